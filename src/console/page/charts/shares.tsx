import { countOf, percentOf, shortCountOf, wordsOf } from "../text/format.ts";

export type Share = { readonly word: string; readonly count: number };

const RADIUS = 40;
const AROUND = 2 * Math.PI * RADIUS;
/** Longer numbers do not fit in the ring. */
const WRITTEN_OUT_BELOW = 1_000_000;

/** The parts of a whole as a donut chart, with a table of the same numbers as its legend. */
export function Shares({ title, shares }: { readonly title: string; readonly shares: readonly Share[] }) {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  let before = 0;
  const arcs = shares.map(({ word, count }) => {
    const length = total === 0 ? 0 : (count / total) * AROUND;
    const arc = { word, length, offset: -before };
    before += length;
    return arc;
  });
  return (
    <div class="shares">
      <svg viewBox="0 0 100 100" role="img" aria-label={`${title}. The numbers are in the table beside it.`}>
        <circle class="ring-ground" cx="50" cy="50" r={RADIUS} />
        {arcs.map(({ word, length, offset }) => (
          <circle
            key={word}
            class={`share share-${word}`}
            cx="50"
            cy="50"
            r={RADIUS}
            stroke-dasharray={`${length} ${AROUND - length}`}
            stroke-dashoffset={offset}
            transform="rotate(-90 50 50)"
          />
        ))}
        <text x="50" y="49" class="shares-total">
          {total < WRITTEN_OUT_BELOW ? countOf(total) : shortCountOf(total)}
        </text>
        <text x="50" y="61" class="shares-word">
          rows
        </text>
      </svg>
      <table>
        <caption class="unseen">{title}</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Verdict</th>
            <th scope="col">Rows</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {shares.map(({ word, count }) => (
            <tr key={word}>
              <th scope="row">
                <i class={`dot dot-${word}`} aria-hidden="true" />
                {wordsOf(word)}
              </th>
              <td class="number">{countOf(count)}</td>
              <td class="number">{percentOf(total === 0 ? 0 : count / total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
