import type { ComponentChildren } from "preact";
import { Table } from "../parts/table.tsx";
import { countOf, shortCountOf } from "../text/format.ts";

export type ColumnBar = { readonly name: string; readonly short?: string; readonly value: number };

const HEIGHT = 100;

/** Values side by side, with a table of the same numbers. */
export function Columns({
  title,
  nameHead,
  valueHead,
  bars,
  note,
}: {
  readonly title: string;
  readonly nameHead: string;
  readonly valueHead: string;
  readonly bars: readonly ColumnBar[];
  readonly note?: ComponentChildren;
}) {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const first = bars[0];
  const last = bars.at(-1);
  return (
    <figure class="columns">
      <div class="columns-plot">
        <div class="columns-scale" aria-hidden="true">
          <span>{shortCountOf(most)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}. The numbers are in the table below.`}
        >
          <line class="grid" x1="0" x2={bars.length * 10} y1="0.5" y2="0.5" />
          <line class="grid" x1="0" x2={bars.length * 10} y1={HEIGHT / 2} y2={HEIGHT / 2} />
          {bars.map(({ name, value }, at) => {
            const height = value === 0 ? 0 : Math.max(1.5, (value / most) * HEIGHT);
            return (
              <g key={name} class="column">
                <rect class="hit" x={at * 10} y="0" width="10" height={HEIGHT} />
                <rect class="bar" x={at * 10 + 1.5} y={HEIGHT - height} width="7" height={height} />
                <title>{`${name}: ${countOf(value)}`}</title>
              </g>
            );
          })}
        </svg>
      </div>
      <div class="columns-ends" aria-hidden="true">
        <span>{first?.short ?? first?.name}</span>
        <span>{last?.short ?? last?.name}</span>
      </div>
      {note === undefined ? null : <figcaption>{note}</figcaption>}
      <details class="numbers">
        <summary>Numbers</summary>
        <Table
          caption={title}
          columns={[
            { head: nameHead, cell: ({ name }: ColumnBar) => name },
            { head: valueHead, cell: ({ value }: ColumnBar) => countOf(value), isNumber: true },
          ]}
          rows={bars}
          keyOf={({ name }) => name}
        />
      </details>
    </figure>
  );
}
