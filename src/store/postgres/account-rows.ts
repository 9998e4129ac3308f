import { and, asc, eq, getTableColumns, isNull, type SQL, sql } from "drizzle-orm";
import { dayOf } from "../../platform/days.ts";
import type { AccountOverview } from "../account-port.ts";
import type { AccountMonth, EndpointUse, KeyRecord, ReplyRecord } from "../account-records.ts";
import { worksAfter } from "../conditions.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "./orm.ts";
import { accountChanges, accounts, apiKeys, idempotentReplies, planPeriods, usageDays } from "./schema.ts";

/** The server's clock in milliseconds: the one that all nodes share. */
export const SERVER_NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/** The channel on which nodes name to each other the accounts that have changed. */
export const CHANGES_CHANNEL = "assay_account_changed";

/**
 * Locks accounts until the end of the transaction. Whatever writes to an account locks it first, several in the order
 * of their ids, so that nobody waits in a circle.
 */
export async function lockAccounts(orm: Orm, accountIds: readonly string[]): Promise<void> {
  await accountLocks(orm).execute({ accountIds: arrayOf(accountIds) });
}

const accountLocks = builtOnce((orm) =>
  orm
    .select({ accountId: accounts.accountId })
    .from(accounts)
    .where(sql`${accounts.accountId} = ${listIn("accountIds", "text")}`)
    .orderBy(asc(accounts.accountId))
    .for("no key update")
    .prepare("lock_accounts"),
);

/** Notifies all nodes, with the commit, that what they know of an account is old. */
export async function announceChange(orm: Orm, accountId: string): Promise<void> {
  await orm
    .insert(accountChanges)
    .values({ accountId, changedAt: SERVER_NOW as never })
    .onConflictDoUpdate({ target: accountChanges.accountId, set: { changedAt: SERVER_NOW } });
  await orm.execute(sql`SELECT pg_notify(${CHANGES_CHANNEL}, ${accountId})`);
}

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

export async function overviewOf(orm: Orm, accountId: string): Promise<AccountOverview> {
  const month = await existingMonth(orm, accountId);
  const [first] = month.planPeriods;
  if (first === undefined) throw new Error("the account has no plan period");
  const { periodStart, periodEnd } = first;
  return { month, usage: await usageByEndpoint(orm, accountId, dayOf(periodStart), dayOf(periodEnd - 1)) };
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

const { expiryEventAt: _, ...keyColumns } = getTableColumns(apiKeys);

/** The columns of a key as the port has it. */
export const KEY_COLUMNS = keyColumns;

/** Returns keys of an account that work, or ended after `endedAfter`, oldest first. */
export async function keysOf(
  orm: Orm,
  accountId: string,
  endedAfter: number | SQL<number>,
): Promise<KeyRecord[]> {
  return orm
    .select(KEY_COLUMNS)
    .from(apiKeys)
    .where(worksAfter(apiKeys, accountId, endedAfter))
    .orderBy(asc(apiKeys.createdAt), sql`${apiKeys.keyId} collate "C"`);
}

/** Writes a reply in the place of an earlier one of its key. */
export async function putReply(orm: Orm, reply: ReplyRecord | null): Promise<void> {
  if (reply === null) return;
  const { accountId: _, idempotencyKey: __, ...rest } = reply;
  await orm
    .insert(idempotentReplies)
    .values(reply)
    .onConflictDoUpdate({
      target: [idempotentReplies.accountId, idempotentReplies.idempotencyKey],
      set: rest,
    });
}
