import { useEffect } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { durationOf, wordsOf } from "../text/format.ts";
import type { Health } from "../wire/bodies.ts";

const REFRESH_MS = 15_000;

/** What the server says of its own parts, asked again as long as the card is shown. */
export function HealthCard() {
  const { api } = useConsole();
  const health = useLoad((signal) => api.read<Health>("/health", signal));
  useEffect(() => {
    const timer = setInterval(health.reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [health.reload]);
  return (
    <Card
      title="Server"
      aside={health.state.status === "ready" ? <Badge word={health.state.value.status} /> : null}
    >
      <Await of={health} lines={5}>
        {({ checks, version, uptime_s }) => (
          <>
            <ul class="checks">
              {Object.entries(checks).map(([part, { status, output }]) => (
                <li key={part}>
                  <span>{wordsOf(part)}</span>
                  {output === undefined ? null : <small>{output}</small>}
                  <Badge word={status} />
                </li>
              ))}
            </ul>
            <p class="muted">
              Version {version}, up for {durationOf(uptime_s)}.
            </p>
          </>
        )}
      </Await>
    </Card>
  );
}
