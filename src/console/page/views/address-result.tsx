import { ScoreBar } from "../charts/score-bar.tsx";
import { Badge } from "../parts/badge.tsx";
import { Facts } from "../parts/facts.tsx";
import { findingsOf, verdictText } from "../text/findings.ts";
import { decimalOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { EmailResult } from "../wire/bodies.ts";

const yes = (fact: boolean) => (fact ? "Yes" : "No");

/** The verdict on an address: in words, as a score with its findings, and the facts of its domain. */
export function AddressResult({
  result,
  onSuggestion,
}: {
  readonly result: EmailResult;
  readonly onSuggestion: (address: string) => void;
}) {
  const { status, score, did_you_mean } = result;
  return (
    <div class="stack">
      <div class="verdict">
        <Badge word={status} />
        <code>{visible(result.email)}</code>
      </div>
      <p>{verdictText(result)}</p>
      {did_you_mean === null ? null : (
        <p class="notice warn">
          <span>
            Did you mean{" "}
            <button type="button" class="button link" onClick={() => onSuggestion(did_you_mean)}>
              {did_you_mean}
            </button>
            ?
          </span>
        </p>
      )}
      <ScoreBar score={score} status={status} findings={findingsOf(result)} />
      <Facts
        facts={[
          ["Mail hosts", result.mx_hosts.length === 0 ? "None" : result.mx_hosts.join(", ")],
          ["Normalized", result.normalized && <code key="normalized">{result.normalized}</code>],
          ["Disposable", yes(result.is_disposable)],
          ["Role account", yes(result.is_role)],
          ["Free provider", yes(result.is_free_provider)],
          ["Gibberish score", decimalOf(result.gibberish_score)],
        ]}
      />
    </div>
  );
}
