import { useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, dayOf, exactMoneyOf, moneyOf, periodOf, shortCountOf, wordsOf } from "../text/format.ts";
import type { Account, Plan, Plans } from "../wire/bodies.ts";
import { InvoiceHistory } from "./invoice-history.tsx";
import { InvoiceLines } from "./invoice-lines.tsx";
import { PlanChange, planAhead } from "./plan-change.tsx";
import { SpendLimit } from "./spend-limit.tsx";

/** The plan against the others, the running month, the invoices. */
export function PlanView() {
  const { api } = useConsole();
  const account = useLoad((signal) => api.read<Account>("/v1/account", signal));
  const plans = useLoad((signal) => api.read<Plans>("/v1/plans", signal));
  const [chosen, setChosen] = useState<Plan | null>(null);
  const [asked, setAsked] = useState<Plan | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const choosing = useAction();
  // The view may be open for weeks: what a change costs is of the account as it is by now.
  const choose = (plan: Plan) =>
    choosing.run(async () => {
      setAsked(plan);
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
                <PlanCards
                  plans={all}
                  account={held}
                  asked={choosing.isRunning ? asked : null}
                  onChoose={choose}
                />
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

function PlanCards({
  plans,
  account,
  asked,
  onChoose,
}: {
  readonly plans: readonly Plan[];
  readonly account: Account;
  /** The one that was pressed, which keeps the focus, while the account is read for it. */
  readonly asked: Plan | null;
  readonly onChoose: (plan: Plan) => void;
}) {
  const heldPrice = priceOf(plans, account.plan);
  return (
    <div class="plans">
      {plans.map((plan) => (
        <PlanCard
          key={plan.plan}
          plan={plan}
          account={account}
          isOff={asked !== null && asked.plan !== plan.plan}
          isUpgrade={Number(plan.monthly_price_usd) > heldPrice}
          onChoose={() => onChoose(plan)}
        />
      ))}
    </div>
  );
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

function priceOf(plans: readonly Plan[], name: string): number {
  return Number(plans.find(({ plan }) => plan === name)?.monthly_price_usd ?? 0);
}

function PlanCard({
  plan,
  account,
  isOff,
  isUpgrade,
  onChoose,
}: {
  readonly plan: Plan;
  readonly account: Account;
  readonly isOff: boolean;
  /** It costs more than the plan that is held. */
  readonly isUpgrade: boolean;
  readonly onChoose: () => void;
}) {
  const isHeld = plan.plan === account.plan;
  const isPending = plan.plan === account.pending_plan;
  const name = wordsOf(plan.plan);
  return (
    <section class={isHeld ? "plan-card held" : "plan-card"} aria-label={name}>
      <div class="row apart">
        <h2>{name}</h2>
        {isHeld ? (
          <Badge word="current" tone="accent" />
        ) : isPending ? (
          <Badge word="next" tone="warn" />
        ) : null}
      </div>
      <p>
        <b class="plan-price">{moneyOf(plan.monthly_price_usd)}</b> <span class="muted">a month</span>
      </p>
      <ul>
        <li>
          {countOf(plan.included_units)} {nounOf(plan.included_units, "unit")}
        </li>
        <li>
          {plan.overage_unit_price_usd === null
            ? "Hard stop beyond"
            : `${exactMoneyOf(plan.overage_unit_price_usd)} a unit beyond`}
        </li>
        <li>
          {countOf(plan.requests_per_second)} {nounOf(plan.requests_per_second, "call")} per second
        </li>
        <li>Batches of {shortCountOf(plan.max_batch_size)}</li>
        <li>Lists of {shortCountOf(plan.max_job_size)} rows</li>
        <li>
          {countOf(plan.max_jobs)} {nounOf(plan.max_jobs, "list")} at once
        </li>
      </ul>
      <Button
        look={isUpgrade ? "primary" : ""}
        isOff={isOff || (isHeld ? account.pending_plan === null : isPending)}
        onPress={onChoose}
      >
        {labelOf(name, { isHeld, isPending, mayKeep: account.pending_plan !== null })}
      </Button>
    </section>
  );
}

function labelOf(
  name: string,
  state: { readonly isHeld: boolean; readonly isPending: boolean; readonly mayKeep: boolean },
): string {
  if (state.isHeld) return state.mayKeep ? `Keep ${name}` : "Current plan";
  return state.isPending ? "Scheduled" : `Choose ${name}`;
}
