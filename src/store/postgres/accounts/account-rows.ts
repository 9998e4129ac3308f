import { and, asc, desc, eq, getTableColumns, inArray, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, unionAll } from "drizzle-orm/pg-core";
import { dayOf } from "../../../platform/days.ts";
import type { AccountOverview } from "../../account-port.ts";
import type { KeyRecord } from "../../account-records.ts";
import { endedKeys, workingKeys } from "../../conditions.ts";
import {
  ENDED_KEYS_MAX,
  KEY_REPEAT_MS,
  listedKeys,
  oldestFirst,
  SURPLUS_AT_ONCE_MAX,
} from "../../listed-keys.ts";
import { existingMonth, usageByEndpoint } from "../billing/month-rows.ts";
import type { Orm } from "../connection/orm.ts";
import { SERVER_NOW, STATEMENT_NOW } from "../connection/server-clock.ts";
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

/** Returns the keys of an account that work at a time, oldest first. */
export async function workingKeysOf(
  orm: Orm,
  accountId: string,
  at: number | SQL<number>,
): Promise<KeyRecord[]> {
  const [unending, ending] = workingKeys(apiKeys, accountId, at);
  const rows = await unionAll(keysThat(orm, unending), keysThat(orm, ending));
  return rows.sort(oldestFirst);
}

/** Returns the keys of an account that work, and those that ended last, oldest first. */
export async function keysOf(
  orm: Orm,
  accountId: string,
  endedAfter: number,
  now: number,
): Promise<KeyRecord[]> {
  const working = await workingKeysOf(orm, accountId, now);
  const { expired, revoked } = endedKeys(apiKeys, accountId, endedAfter, now);
  const ended = await unionAll(
    keysThat(orm, expired).orderBy(desc(apiKeys.expiresAt)).limit(ENDED_KEYS_MAX),
    keysThat(orm, revoked).orderBy(desc(apiKeys.revokedAt)).limit(ENDED_KEYS_MAX),
  );
  return listedKeys(working, ended);
}

const keysThat = (orm: Orm, which: SQL | undefined) => orm.select(KEY_COLUMNS).from(apiKeys).where(which);

/**
 * Adds a key. Ended keys of its account that are of no use go with it, so that a caller who rotates in a loop leaves no
 * more of them.
 */
export async function insertKey(orm: Orm, key: KeyRecord): Promise<void> {
  await orm.insert(apiKeys).values(key);
  const { accountId, revokedAt, expiresAt } = apiKeys;
  const own = eq(accountId, key.accountId);
  await removeSurplus(orm, own, revokedAt, key.createdAt);
  await removeSurplus(orm, and(own, isNull(revokedAt)), expiresAt, key.createdAt);
}

/** Removes some keys that have ended, are not listed, and are too old to repeat a rotation with. */
async function removeSurplus(
  orm: Orm,
  which: SQL | undefined,
  endedAt: AnyPgColumn,
  at: number,
): Promise<void> {
  const now = sql<number>`least(${at}::bigint, ${STATEMENT_NOW})`;
  const lastListed = orm
    .select({ endedAt })
    .from(apiKeys)
    .where(and(which, lte(endedAt, now)))
    .orderBy(desc(endedAt))
    .limit(1)
    .offset(ENDED_KEYS_MAX - 1);
  const isOld = lt(endedAt, sql`${now} - ${KEY_REPEAT_MS}::bigint`);
  await removeSome(orm, and(which, lt(endedAt, lastListed), isOld), endedAt, SURPLUS_AT_ONCE_MAX);
}

/** Removes up to `limit` keys of an account; returns how many. */
export async function removeKeysOf(orm: Orm, accountId: string, limit: number): Promise<number> {
  const { keyHash } = apiKeys;
  const some = orm
    .select({ keyHash })
    .from(apiKeys)
    .where(eq(apiKeys.accountId, accountId))
    .limit(limit)
    .for("update");
  const removed = await orm.delete(apiKeys).where(inArray(keyHash, some)).returning({ keyHash });
  return removed.length;
}

/** Removes up to `limit` keys that ended at a time or before, by the clock that all nodes share; returns how many. */
export async function removeEnded(orm: Orm, endedUntil: number, limit: number): Promise<number> {
  const until = sql<number>`least(${endedUntil}::bigint, ${STATEMENT_NOW})`;
  const { revokedAt, expiresAt } = apiKeys;
  const revoked = await removeSome(orm, lte(revokedAt, until), revokedAt, limit);
  if (revoked === limit) return limit;
  const expired = and(isNull(revokedAt), lte(expiresAt, until));
  return revoked + (await removeSome(orm, expired, expiresAt, limit - revoked));
}

/** What another session removes is passed over. */
async function removeSome(
  orm: Orm,
  which: SQL | undefined,
  endedAt: AnyPgColumn,
  limit: number,
): Promise<number> {
  const some = orm
    .select({ keyHash: apiKeys.keyHash })
    .from(apiKeys)
    .where(which)
    .orderBy(asc(endedAt))
    .limit(limit)
    .for("update", { skipLocked: true });
  const removed = await orm
    .delete(apiKeys)
    .where(inArray(apiKeys.keyHash, some))
    .returning({ keyHash: apiKeys.keyHash });
  return removed.length;
}
