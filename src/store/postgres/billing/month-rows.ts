import { and, asc, eq, isNull, sql } from "drizzle-orm";
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

const runningMonths = builtOnce((orm) => {
  const running = orm
    .select({ accountId: planPeriods.accountId, periodStart: planPeriods.periodStart })
    .from(planPeriods)
    .where(and(sql`${planPeriods.accountId} = ${listIn("accountIds", "text")}`, isNull(planPeriods.endsAt)))
    .as("running");
  return orm
    .select({ account: accounts, planPeriod: planPeriods })
    .from(running)
    .innerJoin(accounts, eq(accounts.accountId, running.accountId))
    .innerJoin(
      planPeriods,
      and(eq(planPeriods.accountId, running.accountId), eq(planPeriods.periodStart, running.periodStart)),
    )
    .orderBy(asc(planPeriods.planPeriodId))
    .prepare("running_months");
});

/** Returns the month of an account that is known to exist. */
export async function existingMonth(orm: Orm, accountId: string): Promise<AccountMonth> {
  const month = await monthOf(orm, accountId);
  if (month === null) throw new Error("there is no such account");
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
