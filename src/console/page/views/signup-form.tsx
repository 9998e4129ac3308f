import { useState } from "preact/hooks";
import { Choice } from "../parts/choice.tsx";
import { Form } from "../parts/form.tsx";
import { Submit } from "../parts/submit.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, moneyOf, wordsOf } from "../text/format.ts";
import type { Plans, SignedUp } from "../wire/bodies.ts";

/** Opens an account and passes its key on. */
export function SignupForm({ onKey }: { readonly onKey: (key: string) => void }) {
  const { api } = useConsole();
  const plans = useLoad((signal) => api.read<Plans>("/v1/plans", signal));
  const [email, setEmail] = useState("");
  const [name, setName] = useState("");
  const [plan, setPlan] = useState("free");
  const action = useAction();
  const signUp = () =>
    action.run(async () => {
      const body = { email: email.trim(), plan, ...(name.trim() === "" ? {} : { name: name.trim() }) };
      const { api_key } = await api.send<SignedUp>("POST", "/v1/signup", body);
      onKey(api_key);
    });
  const options =
    plans.state.status === "ready"
      ? plans.state.value.plans.map(
          (each) =>
            [
              each.plan as string,
              `${wordsOf(each.plan)}: ${countOf(each.included_units)} units, ${moneyOf(each.monthly_price_usd)} a month`,
            ] as const,
        )
      : ([["free", "Free"]] as const);
  return (
    <Form onSubmit={signUp}>
      <TextField
        label="Email"
        type="email"
        value={email}
        onValue={setEmail}
        autocomplete="email"
        required
        hint="It must be able to receive mail."
      />
      <TextField label="Name (optional)" value={name} onValue={setName} autocomplete="name" maxLength={200} />
      <Choice label="Plan" value={plan} options={options} onValue={setPlan} />
      <Submit of={action}>Sign up</Submit>
    </Form>
  );
}
