import { Await } from "../parts/await.tsx";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import type { Listing } from "../wire/bodies.ts";

type Verdict = {
  readonly verdict: string;
  readonly score: number | null;
  readonly reasons: readonly { readonly code: string; readonly severity: string; readonly message: string }[];
};

/** Of verdicts and of how much a reason weighs. */
const TONES: { readonly [word: string]: Tone } = {
  allow: "good",
  review: "warn",
  deny: "bad",
  warn: "warn",
  block: "bad",
};

/** What the judging check says, where the server has one. */
export function ListingVerdict({ listing }: { readonly listing: Listing }) {
  const { api } = useConsole();
  const resource = listing.resources[0]?.url ?? `https://${listing.host}/`;
  const verdict = useLoad(
    (signal) => api.read<Verdict>(`/v1/check?resource=${encodeURIComponent(resource)}`, signal),
    [resource],
  );
  return (
    <Card title="Verdict">
      <Await of={verdict}>
        {(found) => (
          <>
            <p class="verdict">
              <Badge word={found.verdict} tone={TONES[found.verdict] ?? "plain"} />
              {found.score === null ? null : <span>Score {found.score}</span>}
            </p>
            {found.reasons.length === 0 ? <p class="muted">Nothing speaks against it.</p> : null}
            <ul class="findings">
              {found.reasons.map(({ code, severity, message }) => (
                <li key={code}>
                  <span>{message}</span>
                  <Badge word={severity} tone={TONES[severity] ?? "plain"} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Await>
    </Card>
  );
}
