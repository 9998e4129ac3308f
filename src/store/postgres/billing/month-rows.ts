import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { AccountErasedError } from "../../account-port.ts";
import type { AccountMonth, EndpointUse } from "../../account-records.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "../connection/orm.ts";
import { accounts, planPeriods, usageDays } from "../schema.ts";

/** Returns an account and the plan periods of its running month; null where there is no such account. */
export async function monthOf(orm: Orm, accountId: string): Promise<AccountMonth | null> {
  const months = await monthsOf(orm, [accountId]);
  return months.get(accountId) ?? null;
}

/** Returns accounts and the plan periods of their running months, in the order in which they began. */
export async function monthsOf(
  orm: Orm,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountMonth>> {
  const rows = await runningMonths(orm).execute({ accountIds: arrayOf(accountIds) });
  const months = new Map<string, AccountMonth>();
  for (const { account, planPeriod } of rows) {
    const known = months.get(account.accountId);
    months.set(account.accountId, {
      account,
      planPeriods: known === undefined ? [planPeriod] : [...known.planPeriods, planPeriod],
    });
  }
  return months;
}

/** Returns the months of plan periods, whether they run or not, by the ids of all plan periods in them. */
export async function monthsByPlanPeriod(
  orm: Orm,
  planPeriodIds: readonly number[],
): Promise<ReadonlyMap<number, AccountMonth>> {
  const rows = await monthsOfPlanPeriods(orm).execute({ planPeriodIds: arrayOf(planPeriodIds) });
  const months = new Map<number, AccountMonth>();
  const ofMonth = Map.groupBy(rows, ({ planPeriod }) => `${planPeriod.accountId} ${planPeriod.periodStart}`);
  for (const periods of ofMonth.values()) {
    const [first] = periods;
    if (first === undefined) continue;
    const byId = new Map(periods.map(({ planPeriod }) => [planPeriod.planPeriodId, planPeriod]));
    const month = { account: first.account, planPeriods: [...byId.values()] };
    for (const { planPeriodId } of month.planPeriods) months.set(planPeriodId, month);
  }
  return months;
}

const runningMonths = builtOnce((orm) =>
  monthsWhere(
    orm,
    and(sql`${planPeriods.accountId} = ${listIn("accountIds", "text")}`, isNull(planPeriods.endsAt)),
  ).prepare("running_months"),
);

const monthsOfPlanPeriods = builtOnce((orm) =>
  monthsWhere(orm, sql`${planPeriods.planPeriodId} = ${listIn("planPeriodIds", "bigint")}`).prepare(
    "months_of_plan_periods",
  ),
);

/** Selects the months of the plan periods for which the condition holds: one with two of them twice. */
function monthsWhere(orm: Orm, condition: SQL | undefined) {
  const asked = orm
    .select({ accountId: planPeriods.accountId, periodStart: planPeriods.periodStart })
    .from(planPeriods)
    .where(condition)
    .as("asked");
  return orm
    .select({ account: accounts, planPeriod: planPeriods })
    .from(asked)
    .innerJoin(accounts, eq(accounts.accountId, asked.accountId))
    .innerJoin(
      planPeriods,
      and(eq(planPeriods.accountId, asked.accountId), eq(planPeriods.periodStart, asked.periodStart)),
    )
    .orderBy(asc(planPeriods.planPeriodId));
}

/** Returns the month of an account that is known to exist. Throws an AccountErasedError once its data are erased. */
export async function existingMonth(orm: Orm, accountId: string): Promise<AccountMonth> {
  const month = await monthOf(orm, accountId);
  if (month === null) throw new AccountErasedError();
  return month;
}

/** Both days belong to the range. */
export async function usageByEndpoint(
  orm: Orm,
  accountId: string,
  firstDay: string,
  lastDay: string,
): Promise<EndpointUse[]> {
  return orm
    .select({
      endpoint: usageDays.endpoint,
      calls: sql`sum(${usageDays.calls})`.mapWith(Number),
      units: sql`sum(${usageDays.units})`.mapWith(Number),
    })
    .from(usageDays)
    .where(and(eq(usageDays.accountId, accountId), sql`${usageDays.day} between ${firstDay} and ${lastDay}`))
    .groupBy(usageDays.endpoint)
    .orderBy(sql`${usageDays.endpoint} collate "C"`);
}
