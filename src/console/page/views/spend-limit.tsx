import { useState } from "preact/hooks";
import { Form } from "../parts/form.tsx";
import { Failure } from "../parts/notice.tsx";
import { TextField } from "../parts/text-field.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { Account } from "../wire/bodies.ts";
import { planAhead } from "./plan-change.tsx";

/** The most that a month may cost. */
export function SpendLimit({
  account,
  onChanged,
}: {
  readonly account: Account;
  readonly onChanged: (account: Account) => void;
}) {
  const { api, announcement } = useConsole();
  const action = useAction();
  const [limit, setLimit] = useState(account.spend_limit_usd ?? "");
  const save = () =>
    action.run(async () => {
      const spend_limit_usd = limit.trim() === "" ? null : limit.trim();
      // The plan that holds next month is named, as it is by now: saving a limit makes and withdraws no change.
      const plan = planAhead(await api.read<Account>("/v1/account"));
      onChanged(await api.send<Account>("POST", "/v1/account/plan", { plan, spend_limit_usd }));
      announcement.set("The spend limit is saved.");
    });
  return (
    <Form class="stack spend" onSubmit={save}>
      <div class="with-button">
        <TextField
          label="Spend limit in USD (optional)"
          value={limit}
          onValue={setLimit}
          placeholder="None"
          inputMode="decimal"
          hint="Units beyond what it pays for are refused with 402."
        />
        <button type="submit" class="button" disabled={action.isRunning}>
          Save
        </button>
      </div>
      <Failure message={action.failure} />
    </Form>
  );
}
