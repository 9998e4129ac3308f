import { useState } from "preact/hooks";
import { WEBHOOK_EVENTS } from "../../../contract/words.ts";
import { CheckList } from "../parts/check-list.tsx";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { CreatedWebhook } from "../wire/bodies.ts";

const EVENTS = WEBHOOK_EVENTS.map((name) => [name, <code key={name}>{name}</code>] as const);

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
        <TextField
          label="URL"
          type="url"
          value={url}
          onValue={setUrl}
          placeholder="https://example.com/hooks/assay"
          required
          hint="https, with a public name."
        />
        <TextField
          label="Description (optional)"
          value={description}
          onValue={setDescription}
          maxLength={200}
        />
      </div>
      <CheckList label="Events" options={EVENTS} chosen={events} onChosen={setEvents} isWide />
      <Failure message={action.failure} />
      <div class="row">
        <button type="submit" class="button primary" disabled={action.isRunning || events.length === 0}>
          Add endpoint
        </button>
      </div>
    </Form>
  );
}
