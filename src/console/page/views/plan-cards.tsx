import { useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { countOf, exactMoneyOf, moneyOf, shortCountOf, wordsOf } from "../text/format.ts";
import type { Account, Plan } from "../wire/bodies.ts";

/** The plans beside one another, the one that is held among them. */
export function PlanCards({
  plans,
  account,
  isReading,
  onChoose,
}: {
  readonly plans: readonly Plan[];
  readonly account: Account;
  /** The account is read for the one that was pressed: that one keeps the focus, the others are off. */
  readonly isReading: boolean;
  readonly onChoose: (plan: Plan) => void;
}) {
  const [asked, setAsked] = useState<Plan | null>(null);
  const heldPrice = priceOf(plans, account.plan);
  return (
    <div class="plans">
      {plans.map((plan) => (
        <PlanCard
          key={plan.plan}
          plan={plan}
          account={account}
          isOff={isReading && asked?.plan !== plan.plan}
          isUpgrade={Number(plan.monthly_price_usd) > heldPrice}
          onChoose={() => {
            setAsked(plan);
            onChoose(plan);
          }}
        />
      ))}
    </div>
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
