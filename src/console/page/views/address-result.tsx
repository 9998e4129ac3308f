import { ScoreBar } from "../charts/score-bar.tsx";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { findingsOf, verdictText } from "../text/findings.ts";
import { decimalOf } from "../text/format.ts";
import type { EmailResult } from "../wire/bodies.ts";
import { VerdictHead } from "./verdict-head.tsx";

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
      <VerdictHead word={status} item={result.email} sentence={verdictText(result)} />
      {did_you_mean === null ? null : (
        <p class="notice warn">
          <span>
            Did you mean{" "}
            <Button look="link" onPress={() => onSuggestion(did_you_mean)}>
              {did_you_mean}
            </Button>
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
