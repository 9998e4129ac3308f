import { useState } from "preact/hooks";
import { WEBHOOK_EVENTS } from "../../../contract/words.ts";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Breakable } from "../parts/breakable.tsx";
import { Card } from "../parts/card.tsx";
import { Moment } from "../parts/moment.tsx";
import { Secret } from "../parts/secret.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { visible } from "../text/visible.ts";
import type { Webhook } from "../wire/bodies.ts";
import { WebhookForm } from "./webhook-form.tsx";

/** Endpoints that receive events. */
export function WebhooksView() {
  const { api } = useConsole();
  const webhooks = useLoad((signal) =>
    api.read<{ readonly data: readonly Webhook[] }>("/v1/webhooks", signal),
  );
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <div class="view-head">
        <h1>Webhooks</h1>
      </div>
      <div class="stack">
        {secret === null ? null : (
          <Secret title="The signing secret" value={secret} onDone={() => setSecret(null)} />
        )}
        <Card title="Endpoints">
          <Await of={webhooks}>
            {({ data }) => (
              <Table
                caption="Webhooks"
                columns={[
                  {
                    head: "URL",
                    cell: ({ webhook_id, url }: Webhook) => (
                      <a class="name" href={hrefOf("webhooks", webhook_id)}>
                        <Breakable text={url} />
                      </a>
                    ),
                  },
                  { head: "Status", cell: (webhook) => <WebhookState webhook={webhook} /> },
                  { head: "Events", cell: ({ events }) => eventsText(events) },
                  {
                    head: "Description",
                    cell: ({ description }) => <span class="name plain">{visible(description ?? "–")}</span>,
                  },
                  { head: "Created", cell: ({ created_at }) => <Moment at={created_at} /> },
                ]}
                rows={data}
                keyOf={({ webhook_id }) => webhook_id}
                empty={
                  <p>No endpoint yet. Add one below to be notified of lists that end, quotas and invoices.</p>
                }
              />
            )}
          </Await>
        </Card>
        <Card title="Add an endpoint">
          <WebhookForm
            onCreated={(created) => {
              setSecret(created.secret);
              webhooks.reload();
            }}
          />
        </Card>
      </div>
    </>
  );
}

/** Names the events of an endpoint; all of them by one word. */
export function eventsText(events: readonly string[]): string {
  return WEBHOOK_EVENTS.every((event) => events.includes(event)) ? "All" : events.join(", ");
}

const REASONS: { readonly [reason: string]: string } = {
  by_caller: "switched off",
  gone: "it answered 410",
  failing: "no success in five days",
};

export function WebhookState({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabled_reason, failing_since } = webhook;
  if (!enabled) {
    const why = disabled_reason === null ? "" : `: ${REASONS[disabled_reason] ?? disabled_reason}`;
    return <Badge word={`disabled${why}`} tone="bad" />;
  }
  if (failing_since === null) return <Badge word="enabled" />;
  return (
    <span class="over">
      <Badge word="failing" />
      <small>
        since <Moment at={failing_since} />
      </small>
    </span>
  );
}
