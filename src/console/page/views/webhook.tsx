import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Breakable } from "../parts/breakable.tsx";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Facts } from "../parts/facts.tsx";
import { Moment } from "../parts/moment.tsx";
import { Failure } from "../parts/notice.tsx";
import { Secret } from "../parts/secret.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useAction } from "../state/use-action.ts";
import { useLoad } from "../state/use-load.ts";
import { visible } from "../text/visible.ts";
import type { Delivery, RotatedSecret, Webhook } from "../wire/bodies.ts";
import { DeliveriesCard } from "./deliveries.tsx";
import { eventsText, WebhookState } from "./webhooks.tsx";

const OVERLAP_SECONDS = 86_400;

/** One endpoint: its state, its secret, what was delivered to it. */
export function WebhookView({ id }: { readonly id: string }) {
  const { api, goTo } = useConsole();
  const loaded = useLoad(async (signal) => {
    const { data } = await api.read<{ readonly data: readonly Webhook[] }>("/v1/webhooks", signal);
    return data.find(({ webhook_id }) => webhook_id === id) ?? null;
  });
  const action = useAction();
  const [secret, setSecret] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const [asked, setAsked] = useState<"delete" | "rotate" | null>(null);
  const path = `/v1/webhooks/${encodeURIComponent(id)}`;
  const test = async () => {
    await api.send<Delivery>("POST", `${path}/test`);
    setTurn(turn + 1);
  };
  const setEnabled = (enabled: boolean) => async () =>
    loaded.replace(await api.send<Webhook>("PATCH", path, { enabled }));
  return (
    <>
      <p class="crumb">
        <a href={hrefOf("webhooks")}>Webhooks</a>
      </p>
      <Await of={loaded} lines={6} title="Endpoint">
        {(webhook) =>
          webhook === null ? (
            <p class="empty">There is no such endpoint any more.</p>
          ) : (
            <>
              <WebhookHead
                webhook={webhook}
                isBusy={action.isRunning}
                onTest={() => action.run(test)}
                onEnabled={(enabled) => action.run(setEnabled(enabled))}
                onAsk={setAsked}
              />
              <div class="stack">
                <Failure message={action.failure} />
                {secret === null ? null : (
                  <Secret title="The new secret" value={secret} onDone={() => setSecret(null)}>
                    <p>For a day events are signed with the old secret, too.</p>
                  </Secret>
                )}
                <Card title="Endpoint">
                  <Facts
                    isWide
                    facts={[
                      ["Status", <WebhookState key="state" webhook={webhook} />],
                      ["Events", eventsText(webhook.events)],
                      ["Description", visible(webhook.description ?? "")],
                      ["Created", <Moment key="since" at={webhook.created_at} />],
                    ]}
                  />
                </Card>
                <DeliveriesCard path={path} turn={turn} />
              </div>
            </>
          )
        }
      </Await>
      {asked === "rotate" ? (
        <Confirm
          title="Rotate the secret?"
          act="Rotate secret"
          isDangerous={false}
          onClose={() => setAsked(null)}
          onAct={async () => {
            const body = { overlap_seconds: OVERLAP_SECONDS };
            const rotated = await api.send<RotatedSecret>("POST", `${path}/rotate-secret`, body);
            setSecret(rotated.secret);
          }}
        >
          <p>Events are signed with both secrets for a day, then with the new one alone.</p>
        </Confirm>
      ) : null}
      {asked === "delete" ? (
        <Confirm
          title="Delete this endpoint?"
          act="Delete the endpoint"
          onClose={() => setAsked(null)}
          onAct={async () => {
            await api.remove(path);
            goTo("webhooks");
          }}
        >
          <p>Nothing is sent to it any more, retries included.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function WebhookHead({
  webhook,
  isBusy,
  onTest,
  onEnabled,
  onAsk,
}: {
  readonly webhook: Webhook;
  readonly isBusy: boolean;
  readonly onTest: () => unknown;
  readonly onEnabled: (enabled: boolean) => unknown;
  readonly onAsk: (asked: "delete" | "rotate") => void;
}) {
  return (
    <div class="view-head">
      <h1 class="address">
        <Breakable text={webhook.url} />
      </h1>
      <div class="row">
        <Button look="primary" isOff={isBusy || !webhook.enabled} onPress={onTest}>
          Send test event
        </Button>
        <Button isOff={isBusy} onPress={() => onEnabled(!webhook.enabled)}>
          {webhook.enabled ? "Disable" : "Enable"}
        </Button>
        <Button onPress={() => onAsk("rotate")}>Rotate secret</Button>
        <Button look="danger" onPress={() => onAsk("delete")}>
          Delete
        </Button>
      </div>
    </div>
  );
}
