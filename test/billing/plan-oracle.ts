import type { PlanCatalogue } from "../../src/billing/plans.ts";
import type { PlanName } from "../../src/contract/words.ts";

type Held = { readonly plan: PlanName; readonly from: number; to: number; units: number };
type Tenant = { month: number; plan: PlanName; pending: PlanName | null; held: Held[] };

/**
 * What each month costs by the rule alone, computed from the list of events by other code than the server's, in exact
 * fractions: a plan costs the seconds it was held of its monthly price, includes as many seconds of its units, rounded
 * up, and each unit used beyond them while it was held costs its overage price. The free plan gives its units once.
 */
export function createPlanOracle(plans: PlanCatalogue) {
  const tenants = new Map<string, Tenant>();
  const costs = new Map<string, bigint>();
  const rankOf = (name: PlanName): number => plans.findIndex(({ plan }) => plan === name);
  const nextMonth = (at: number): number => {
    const date = new Date(at);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  };

  function costOf({ month, held }: Tenant): bigint {
    const wholeSeconds = BigInt((nextMonth(month) - month) / 1_000);
    let total = 0n;
    let freeLeft = BigInt(plans[0]?.includedUnits ?? 0);
    for (const { plan, from, to, units } of held) {
      const price = plans.find((entry) => entry.plan === plan);
      if (price === undefined) throw new Error("no such plan");
      const seconds = BigInt(Math.floor(to / 1_000) - Math.floor(from / 1_000));
      const doubled = BigInt(price.monthlyPriceMicroUsd) * seconds * 2n;
      total += (doubled + wholeSeconds) / (wholeSeconds * 2n);
      const share = BigInt(price.includedUnits) * seconds;
      const included = plan === "free" ? freeLeft : (share + wholeSeconds - 1n) / wholeSeconds;
      if (plan === "free") freeLeft -= BigInt(units);
      const beyond = BigInt(units) > included ? BigInt(units) - included : 0n;
      total += beyond * BigInt(price.overagePriceMicroUsd ?? 0);
    }
    return total;
  }

  /** Ends the months that are over. A month's costs are asked for later: a call may still be charged to it. */
  const ended: { readonly id: string; readonly tenant: Tenant }[] = [];
  function touch(id: string, now: number): Tenant {
    const tenant = tenants.get(id);
    if (tenant === undefined) throw new Error("no such tenant");
    while (nextMonth(tenant.month) <= now) {
      ended.push({ id, tenant: { ...tenant } });
      tenant.month = nextMonth(tenant.month);
      tenant.plan = tenant.pending ?? tenant.plan;
      tenant.pending = null;
      tenant.held = [{ plan: tenant.plan, from: tenant.month, to: nextMonth(tenant.month), units: 0 }];
    }
    return tenant;
  }

  return {
    signUp(id: string, plan: PlanName, now: number): void {
      const date = new Date(now);
      const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
      tenants.set(id, {
        month,
        plan,
        pending: null,
        held: [{ plan, from: now, to: nextMonth(now), units: 0 }],
      });
    },
    touchAll(now: number): void {
      for (const id of tenants.keys()) touch(id, now);
    },
    /** Returns what counts the units of a call that begins now, whenever it is charged. */
    begin(id: string, now: number): (units: number) => void {
      const running = touch(id, now).held.at(-1);
      return (units) => {
        if (running !== undefined) running.units += units;
      };
    },
    change(id: string, plan: PlanName, now: number): void {
      const tenant = touch(id, now);
      const running = tenant.held.at(-1);
      if (running === undefined) throw new Error("no plan is held");
      if (rankOf(plan) <= rankOf(tenant.plan)) {
        tenant.pending = plan === tenant.plan ? null : plan;
        return;
      }
      const at = Math.max(now, running.from);
      tenant.held.push({ plan, from: at, to: running.to, units: 0 });
      running.to = at;
      tenant.plan = plan;
      tenant.pending = null;
    },
    /** Returns what every month that is over costs, by account and first day. */
    costs(): ReadonlyMap<string, bigint> {
      for (const { id, tenant } of ended) costs.set(`${id} ${tenant.month}`, costOf(tenant));
      return costs;
    },
  };
}
