import type { FindingText } from "../text/findings.ts";
import { wordsOf } from "../text/format.ts";
import { MeterBar } from "./meter-bar.tsx";

const TONES: { readonly [status: string]: string } = {
  deliverable: "good",
  risky: "warn",
  undeliverable: "bad",
  unknown: "plain",
};

/** A score from 0 to 100 as a bar, with the findings that made it. */
export function ScoreBar({
  score,
  status,
  findings,
}: {
  readonly score: number;
  readonly status: string;
  readonly findings: readonly FindingText[];
}) {
  return (
    <div class="score">
      <div class="row apart">
        <h3>Score</h3>
        <p>
          <b class="score-number">{score}</b> <span class="muted">of 100</span>
        </p>
      </div>
      <MeterBar label={`Score ${score} of 100`} value={score} most={100} tone={TONES[status] ?? "accent"} />
      {findings.length === 0 ? (
        <p class="muted">Nothing was found that takes points.</p>
      ) : (
        <ul class="findings">
          {findings.map(({ name, meaning, points }) => (
            <li key={name}>
              <span>
                <b>{wordsOf(name)}</b> {meaning}
              </span>
              <em>{points < 0 ? `+${-points}` : `−${points}`}</em>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
