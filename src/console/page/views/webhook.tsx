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
import { WebhookEdit } from "./webhook-edit.tsx";
import { eventsText, WebhookState } from "./webhooks.tsx";

type Dialog = "delete" | "edit" | "rotate";

const OVERLAP_SECONDS = 86_400;

/** One endpoint: its state, its secret, its deliveries. */
export function WebhookView({ id }: { readonly id: string }) {
  const { api } = useConsole();
  const loaded = useLoad(async (signal) => {
    const { data } = await api.read<{ readonly data: readonly Webhook[] }>("/v1/webhooks", signal);
    return data.find(({ webhook_id }) => webhook_id === id) ?? null;
  });
  const action = useAction();
  const [secret, setSecret] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const [dialog, setDialog] = useState<Dialog | null>(null);
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
            <>
              <div class="view-head">
                <h1>Endpoint</h1>
              </div>
              <p class="empty">There is no such endpoint any more.</p>
            </>
          ) : (
            <>
              <WebhookHead
                webhook={webhook}
                isBusy={action.isRunning}
                onTest={() => action.run(test)}
                onEnabled={(enabled) => action.run(setEnabled(enabled))}
                onOpen={setDialog}
              />
              <div class="stack">
                <Failure message={action.failure} />
                {secret === null ? null : (
                  <Secret title="The new secret" value={secret} onDone={() => setSecret(null)}>
                    <p>For a day events are signed with the old secret, too.</p>
                  </Secret>
                )}
                <EndpointCard webhook={webhook} />
                <DeliveriesCard path={path} turn={turn} />
              </div>
              {dialog === "edit" ? (
                <WebhookEdit webhook={webhook} onChanged={loaded.replace} onClose={() => setDialog(null)} />
              ) : null}
            </>
          )
        }
      </Await>
      {dialog === "rotate" ? (
        <RotateDialog path={path} onSecret={setSecret} onClose={() => setDialog(null)} />
      ) : null}
      {dialog === "delete" ? <DeleteDialog path={path} onClose={() => setDialog(null)} /> : null}
    </>
  );
}

function EndpointCard({ webhook }: { readonly webhook: Webhook }) {
  return (
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
  );
}

function RotateDialog({
  path,
  onSecret,
  onClose,
}: {
  readonly path: string;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}) {
  const { api } = useConsole();
  return (
    <Confirm
      title="Rotate the secret?"
      act="Rotate secret"
      isDangerous={false}
      onClose={onClose}
      onAct={async () => {
        const body = { overlap_seconds: OVERLAP_SECONDS };
        const rotated = await api.send<RotatedSecret>("POST", `${path}/rotate-secret`, body);
        onSecret(rotated.secret);
      }}
    >
      <p>Events are signed with both secrets for a day, then with the new one alone.</p>
    </Confirm>
  );
}

function DeleteDialog({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const { api, goTo } = useConsole();
  return (
    <Confirm
      title="Delete this endpoint?"
      act="Delete the endpoint"
      onClose={onClose}
      onAct={async () => {
        await api.remove(path);
        goTo("webhooks");
      }}
    >
      <p>Nothing is sent to it any more, retries included.</p>
    </Confirm>
  );
}

function WebhookHead({
  webhook,
  isBusy,
  onTest,
  onEnabled,
  onOpen,
}: {
  readonly webhook: Webhook;
  readonly isBusy: boolean;
  readonly onTest: () => unknown;
  readonly onEnabled: (enabled: boolean) => unknown;
  readonly onOpen: (dialog: Dialog) => void;
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
        <Button onPress={() => onOpen("edit")}>Edit</Button>
        <Button onPress={() => onOpen("rotate")}>Rotate secret</Button>
        <Button look="danger" onPress={() => onOpen("delete")}>
          Delete
        </Button>
      </div>
    </div>
  );
}
