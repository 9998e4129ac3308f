import { asc, getTableColumns, type SQL, sql } from "drizzle-orm";
import { dayOf } from "../../../platform/days.ts";
import type { AccountOverview } from "../../account-port.ts";
import type { KeyRecord } from "../../account-records.ts";
import { worksAfter } from "../../conditions.ts";
import { existingMonth, usageByEndpoint } from "../billing/month-rows.ts";
import type { Orm } from "../connection/orm.ts";
import { SERVER_NOW } from "../connection/server-clock.ts";
import { accountChanges, apiKeys } from "../schema.ts";

/** The channel on which nodes name to each other the accounts that have changed. */
export const CHANGES_CHANNEL = "assay_account_changed";

/** Notifies all nodes, with the commit, that what they know of an account is old. */
export async function announceChange(orm: Orm, accountId: string): Promise<void> {
  await orm
    .insert(accountChanges)
    .values({ accountId, changedAt: SERVER_NOW as never })
    .onConflictDoUpdate({ target: accountChanges.accountId, set: { changedAt: SERVER_NOW } });
  await orm.execute(sql`SELECT pg_notify(${CHANGES_CHANNEL}, ${accountId})`);
}

export async function overviewOf(orm: Orm, accountId: string): Promise<AccountOverview> {
  const month = await existingMonth(orm, accountId);
  const [first] = month.planPeriods;
  if (first === undefined) throw new Error("the account has no plan period");
  const { periodStart, periodEnd } = first;
  return { month, usage: await usageByEndpoint(orm, accountId, dayOf(periodStart), dayOf(periodEnd - 1)) };
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
