import { useState } from "preact/hooks";
import { WEBHOOK_EVENTS } from "../../../contract/words.ts";
import { Check } from "../parts/check.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { CreatedWebhook } from "../wire/bodies.ts";

/** Adds an endpoint. */
export function WebhookForm({ onCreated }: { readonly onCreated: (created: CreatedWebhook) => void }) {
  const { api } = useConsole();
  const action = useAction();
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [events, setEvents] = useState<readonly string[]>(WEBHOOK_EVENTS);
  const create = (event: Event) => {
    event.preventDefault();
    void action.run(async () => {
      const body = {
        url: url.trim(),
        events,
        ...(description.trim() === "" ? {} : { description: description.trim() }),
      };
      onCreated(await api.send<CreatedWebhook>("POST", "/v1/webhooks", body));
      setUrl("");
      setDescription("");
    });
  };
  return (
    <form class="stack" onSubmit={create}>
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
      <fieldset class="checks-field">
        <legend>Events</legend>
        <div class="fields">
          {WEBHOOK_EVENTS.map((name) => (
            <Check
              key={name}
              checked={events.includes(name)}
              onChecked={(isChosen) =>
                setEvents(isChosen ? [...events, name] : events.filter((each) => each !== name))
              }
            >
              <code>{name}</code>
            </Check>
          ))}
        </div>
      </fieldset>
      <Failure message={action.failure} />
      <div class="row">
        <button type="submit" class="button primary" disabled={action.isRunning || events.length === 0}>
          Add endpoint
        </button>
      </div>
    </form>
  );
}
