import { useState } from "preact/hooks";
import { CheckList } from "../parts/check-list.tsx";
import { Choice } from "../parts/choice.tsx";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { CreatedKey } from "../wire/bodies.ts";

const SCOPES = [
  ["verify", "Verify: checks, batches, lists and their results"],
  ["read", "Read: account, usage, invoices, lists; no results"],
  ["account", "Account: all of it, keys and plan included"],
] as const;

/** Makes a key with a name, scopes and an end. */
export function KeyForm({ onCreated }: { readonly onCreated: (key: CreatedKey) => void }) {
  const { api } = useConsole();
  const action = useAction();
  const [name, setName] = useState("");
  const [mode, setMode] = useState<"live" | "test">("live");
  const [scopes, setScopes] = useState<readonly string[]>(["verify"]);
  const [end, setEnd] = useState("");
  const create = () =>
    action.run(async () => {
      const body = {
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(mode === "live" ? {} : { mode }),
        scopes,
        ...(end === "" ? {} : { expires_at: new Date(`${end}T23:59:59`).toISOString() }),
      };
      onCreated(await api.send<CreatedKey>("POST", "/v1/account/keys", body));
      setName("");
      setEnd("");
    });
  return (
    <Form onSubmit={create}>
      <div class="fields">
        <TextField label="Name" value={name} onValue={setName} placeholder="Newsletter" maxLength={100} />
        <Choice
          label="Mode"
          value={mode}
          options={[
            ["live", "Live calls"],
            ["test", "Test calls: free, made-up answers"],
          ]}
          onValue={setMode}
        />
        <TextField label="Expires at the end of (optional)" type="date" value={end} onValue={setEnd} />
      </div>
      <CheckList label="Scopes" options={SCOPES} chosen={scopes} onChosen={setScopes} />
      <Failure message={action.failure} />
      <div class="row">
        <button type="submit" class="button primary" disabled={action.isRunning || scopes.length === 0}>
          Create key
        </button>
      </div>
    </Form>
  );
}
