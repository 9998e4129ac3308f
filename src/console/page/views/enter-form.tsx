import { useEffect, useMemo, useState } from "preact/hooks";
import { Form } from "../parts/form.tsx";
import { Submit } from "../parts/submit.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { codeOf } from "../wire/api.ts";
import { refusalOf, Unreachable } from "../wire/refusal.ts";

/** Signs in with a key that the server accepts, even one whose scopes exclude the account. */
export function EnterForm() {
  const { session } = useConsole();
  const [key, setKey] = useState("");
  const action = useAction();
  // Somebody may come in another way and leave again meanwhile: who waits here then is another visitor.
  const stop = useMemo(() => new AbortController(), []);
  useEffect(() => () => stop.abort(), [stop]);
  const enter = () =>
    action.run(async () => {
      const held = key.trim();
      if (!/^[\x21-\x7e]+$/.test(held)) return action.fail("Paste a key: asy_ and 36 letters and digits.");
      const reply = await fetch("/v1/account", {
        cache: "no-store",
        signal: stop.signal,
        headers: { Authorization: `Bearer ${held}` },
      }).catch((cause: unknown) => {
        throw new Unreachable("The server does not answer.", { cause });
      });
      const refusal = reply.ok ? null : await refusalOf(reply);
      if (refusal !== null && codeOf(refusal) !== "forbidden") throw refusal;
      stop.signal.throwIfAborted();
      session.exchange(null, held);
    });
  return (
    <Form onSubmit={enter}>
      <TextField
        label="API key"
        type="password"
        value={key}
        onValue={setKey}
        placeholder="asy_…"
        autocomplete="off"
        required
        hint="A test key, asy_test_…, is welcome: it costs nothing."
      />
      <Submit of={action}>Sign in</Submit>
    </Form>
  );
}
