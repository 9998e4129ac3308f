import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { Webhook } from "../wire/bodies.ts";
import { EventsField, UrlField } from "./webhook-fields.tsx";

/** Changes where events are sent, and which. */
export function WebhookEdit({
  webhook,
  onChanged,
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onChanged: (webhook: Webhook) => void;
  readonly onClose: () => void;
}) {
  const { api } = useConsole();
  const action = useAction();
  const [url, setUrl] = useState(webhook.url);
  const [events, setEvents] = useState<readonly string[]>(webhook.events);
  const save = () =>
    action.run(async () => {
      const path = `/v1/webhooks/${encodeURIComponent(webhook.webhook_id)}`;
      onChanged(await api.send<Webhook>("PATCH", path, { url: url.trim(), events }));
      onClose();
    });
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <Form onSubmit={save}>
        <UrlField value={url} onValue={setUrl} />
        <EventsField chosen={events} onChosen={setEvents} />
        <p class="muted">The secret stays. Deliveries that still wait go to the new URL.</p>
        <Failure message={action.failure} />
        <div class="row end">
          <Button onPress={onClose}>Back</Button>
          <button type="submit" class="button primary" disabled={action.isRunning || events.length === 0}>
            Save
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
