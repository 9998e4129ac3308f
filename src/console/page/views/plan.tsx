import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { useLoad } from "../state/use-load.ts";
import { dayOf, periodOf, wordsOf } from "../text/format.ts";
import type { Account, Plan, Plans } from "../wire/bodies.ts";
import { InvoiceHistory } from "./invoice-history.tsx";
import { InvoiceLines } from "./invoice-lines.tsx";
import { PlanCards } from "./plan-cards.tsx";
import { PlanChange, planAhead } from "./plan-change.tsx";
import { SpendLimit } from "./spend-limit.tsx";

/** The plan against the others, the running month, the invoices. */
export function PlanView() {
  const { api } = useConsole();
  const account = useLoad((signal) => api.read<Account>("/v1/account", signal));
  const plans = useLoad((signal) => api.read<Plans>("/v1/plans", signal));
  const [chosen, setChosen] = useState<Plan | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const choosing = useAction();
  // The view may be open for weeks: what a change costs is of the account as it is by now.
  const choose = (plan: Plan) =>
    choosing.run(async () => {
      const read = await api.read<Account>("/v1/account");
      account.replace(read);
      if (planAhead(read) !== plan.plan) setChosen(plan);
    });
  return (
    <>
      <div class="view-head">
        <h1>Plan and invoices</h1>
      </div>
      {notice === null ? null : <Notice kind="good">{notice}</Notice>}
      <Failure message={choosing.failure} />
      <Await of={account} lines={6}>
        {(held) => (
          <Await of={plans} lines={6}>
            {({ plans: all }) => (
              <div class="stack">
                {held.pending_plan === null ? null : (
                  <Notice kind="warn">
                    From {dayOf(held.period.end)} on the plan is {wordsOf(held.pending_plan)}. Until then all
                    stays as it is.
                  </Notice>
                )}
                <PlanCards plans={all} account={held} isReading={choosing.isRunning} onChoose={choose} />
                <RunningMonth account={held} onChanged={account.replace} />
                <InvoiceHistory />
                {chosen === null ? null : (
                  <PlanChange
                    account={held}
                    from={all.find(({ plan }) => plan === held.plan) ?? chosen}
                    to={chosen}
                    onClose={() => setChosen(null)}
                    onRead={account.replace}
                    onChanged={(changed) => {
                      account.replace(changed);
                      setNotice(changeText(changed));
                    }}
                  />
                )}
              </div>
            )}
          </Await>
        )}
      </Await>
    </>
  );
}

function changeText({ plan, pending_plan, period }: Account): string {
  if (pending_plan === null) return `The plan is ${wordsOf(plan)} now.`;
  return `The plan changes to ${wordsOf(pending_plan)} on ${dayOf(period.end)}.`;
}

function RunningMonth({
  account,
  onChanged,
}: {
  readonly account: Account;
  readonly onChanged: (account: Account) => void;
}) {
  const { start, end } = account.period;
  return (
    <Card title="This month so far" aside={<span class="muted">{periodOf(start, end)} (UTC)</span>}>
      <InvoiceLines invoice={account.projected_invoice} />
      <SpendLimit account={account} onChanged={onChanged} />
    </Card>
  );
}
