import { budgetOf } from "../../../billing/budget.ts";
import { MeterBar } from "../charts/meter-bar.tsx";
import { Ring } from "../charts/ring.tsx";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Facts } from "../parts/facts.tsx";
import { hrefOf } from "../state/route.ts";
import type { Loaded } from "../state/use-load.ts";
import { countOf, dayOf, moneyOf, percentOf, shortCountOf, wordsOf } from "../text/format.ts";
import { planPriceIn } from "../text/invoice-lines.ts";
import type { Account, Plan, Plans } from "../wire/bodies.ts";

type Of = { readonly account: Account };

/** Units used of those that the plan includes. */
export function UnitsCard({ account, plans }: Of & { readonly plans: readonly Plan[] }) {
  const { units, included_units, remaining_units, calls } = account.usage;
  const share = included_units === 0 ? (units > 0 ? 1 : 0) : units / included_units;
  const { includedUnitsLeft, unitsLeft } = budgetOf(account, plans);
  const isLimited = remaining_units === null && Number.isFinite(unitsLeft);
  return (
    <Card title="Units this month">
      <div class="units">
        <Ring
          share={share}
          title={`${countOf(units)} of ${countOf(included_units)} included units are used`}
          value={percentOf(Math.min(9.99, share))}
          below="used"
        />
        <Facts
          facts={[
            ["Used", countOf(units)],
            ["Included", countOf(included_units)],
            [remaining_units === null ? "Included left" : "Left", countOf(includedUnitsLeft)],
            ...(isLimited ? [["Left in all", countOf(unitsLeft)] as const] : []),
            ["Calls", countOf(calls)],
          ]}
        />
      </div>
      <p class="muted">
        {remaining_units !== null
          ? "Calls beyond what is left are refused with 402."
          : isLimited
            ? "Further units are charged one by one; what the spend limit does not pay for is refused with 402."
            : "Further units are charged one by one."}{" "}
        The month ends on {dayOf(account.period.end)} (UTC).
      </p>
    </Card>
  );
}

/** What the month will cost, against the plan's own price. */
export function InvoiceCard({ account }: Of) {
  const { total_usd, projected_total_usd = total_usd } = account.projected_invoice;
  const base = planPriceIn(account.projected_invoice);
  const projected = Number(projected_total_usd);
  return (
    <Card title="Projected invoice" aside={<a href={hrefOf("plan")}>Plan</a>}>
      <p class="figure">{moneyOf(projected)}</p>
      <MeterBar
        label={`${moneyOf(base)} of ${moneyOf(projected)} is the plan's own price`}
        value={base}
        most={Math.max(projected, base)}
        tone={projected > base ? "warn" : "accent"}
      />
      <Facts
        facts={[
          ["Plan", wordsOf(account.plan)],
          ["Plan price", moneyOf(base)],
          ["To date", moneyOf(total_usd)],
          ["Spend limit", account.spend_limit_usd === null ? "None" : moneyOf(account.spend_limit_usd)],
        ]}
      />
    </Card>
  );
}

/** What the plan allows at once. */
export function LimitsCard({ account, plans }: Of & { readonly plans: Loaded<Plans> }) {
  const { requests_per_second, burst, max_batch_size } = account.limits;
  return (
    <Card title="Limits">
      <Facts
        facts={[
          ["Calls per second", countOf(requests_per_second)],
          ["Burst", countOf(burst)],
          ["Items per batch", countOf(max_batch_size)],
        ]}
      />
      <Await of={plans} lines={2}>
        {({ plans: all }) => {
          const plan = all.find(({ plan: name }) => name === account.plan);
          return plan === undefined ? null : (
            <Facts
              facts={[
                ["Rows per list", shortCountOf(plan.max_job_size)],
                ["Lists at once", countOf(plan.max_jobs)],
              ]}
            />
          );
        }}
      </Await>
    </Card>
  );
}
