import { useState } from "preact/hooks";
import { WEBHOOK_EVENTS } from "../../../contract/words.ts";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { CreatedWebhook } from "../wire/bodies.ts";
import { EventsField, UrlField } from "./webhook-fields.tsx";

/** Adds an endpoint. */
export function WebhookForm({ onCreated }: { readonly onCreated: (created: CreatedWebhook) => void }) {
  const { api } = useConsole();
  const action = useAction();
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState<readonly string[]>(WEBHOOK_EVENTS);
  const create = () =>
    action.run(async () => {
      const body = {
        url: url.trim(),
        events,
        ...(description.trim() === "" ? {} : { description: description.trim() }),
      };
      onCreated(await api.send<CreatedWebhook>("POST", "/v1/webhooks", body));
      setUrl("");
      setDescription("");
    });
  return (
    <Form onSubmit={create}>
      <div class="fields">
        <UrlField value={url} onValue={setUrl} />
        <TextField
          label="Description (optional)"
          value={description}
          onValue={setDescription}
          maxLength={200}
        />
      </div>
      <EventsField chosen={events} onChosen={setEvents} />
      <Failure message={action.failure} />
      <div class="row">
        <button type="submit" class="button primary" disabled={action.isRunning || events.length === 0}>
          Add endpoint
        </button>
      </div>
    </Form>
  );
}
