import { and, asc, eq, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import type { AccountPort, KeyPort } from "../account-port.ts";
import type { MonthPort } from "../billing-port.ts";
import {
  announceChange,
  existingMonth,
  KEY_COLUMNS,
  keysOf,
  lockAccounts,
  monthOf,
  overviewOf,
  putReply,
  SERVER_NOW,
} from "./account-rows.ts";
import type { Connection } from "./connection.ts";
import type { Orm } from "./orm.ts";
import { accounts, apiKeys, planPeriods } from "./schema.ts";
import { emit } from "./webhook-rows.ts";

/** Accounts, their keys and the months that they are in. */
export function createAccountCases({ transact, read }: Connection): AccountPort & KeyPort & MonthPort {
  return { ...accountCases(transact, read), ...keyCases(transact, read), ...monthCases(transact, read) };
}

type Transact = Connection["transact"];
type Read = Connection["read"];

/** Runs work that changes accounts: locked first, in the order of their ids, and announced with the commit. */
export function changing<T>(
  transact: Transact,
  accountIds: readonly string[],
  work: (orm: Orm) => Promise<T>,
): Promise<T> {
  return transact(async (orm) => {
    await lockAccounts(orm, accountIds);
    const result = await work(orm);
    for (const accountId of [...accountIds].sort()) await announceChange(orm, accountId);
    return result;
  });
}

function accountCases(transact: Transact, read: Read): AccountPort {
  return {
    signUp: (account, key, planPeriod) =>
      transact(async (orm) => {
        const inserted = await orm
          .insert(accounts)
          .values(account)
          .onConflictDoNothing({ target: accounts.normalized })
          .returning({ accountId: accounts.accountId });
        if (inserted.length === 0) return false;
        await orm.insert(apiKeys).values(key);
        await orm.insert(planPeriods).values(planPeriod);
        return true;
      }),

    readOverview: (accountId) => read((orm) => overviewOf(orm, accountId)),

    findAccount: (accountId) =>
      read(async (orm) => {
        const [row] = await orm.select().from(accounts).where(eq(accounts.accountId, accountId));
        return row ?? null;
      }),

    changePlan: (accountId, decide, replyOf) =>
      changing(transact, [accountId], async (orm) => {
        const before = await existingMonth(orm, accountId);
        const { plan, pendingPlan, spendLimitMicroUsd, started } = decide(before);
        if (started !== null) {
          const running = before.planPeriods.at(-1);
          if (running !== undefined) await endPlanPeriod(orm, running.planPeriodId, started.startsAt);
          await orm.insert(planPeriods).values(started);
        }
        await orm
          .update(accounts)
          .set({ plan, pendingPlan, ...(spendLimitMicroUsd === undefined ? {} : { spendLimitMicroUsd }) })
          .where(eq(accounts.accountId, accountId));
        const after = await overviewOf(orm, accountId);
        await putReply(orm, replyOf(after));
        return after;
      }),
  };
}

function keyCases(transact: Transact, read: Read): KeyPort {
  const workingKeys = async (orm: Orm, accountId: string, now: number | SQL<number>) =>
    (await keysOf(orm, accountId, now)).filter(({ revokedAt }) => revokedAt === null);

  return {
    findKey: (keyHash) =>
      read(async (orm) => {
        const [row] = await orm
          .select({
            key: KEY_COLUMNS,
            plan: accounts.plan,
            suspendedAt: accounts.suspendedAt,
            isExpiredThere: sql<boolean>`coalesce(${apiKeys.expiresAt} <= ${SERVER_NOW}, false)`,
          })
          .from(apiKeys)
          .innerJoin(accounts, eq(accounts.accountId, apiKeys.accountId))
          .where(eq(apiKeys.keyHash, keyHash));
        if (row === undefined) return null;
        const { key, ...rest } = row;
        return { ...key, ...rest };
      }),

    listKeys: (accountId, endedAfter) => read((orm) => keysOf(orm, accountId, endedAfter)),

    addKey: (key, keysMax, reply) =>
      changing(transact, [key.accountId], async (orm) => {
        if ((await workingKeys(orm, key.accountId, key.createdAt)).length >= keysMax) return false;
        await orm.insert(apiKeys).values(key);
        await putReply(orm, reply);
        return true;
      }),

    rotateKey: (key, { keyId, endsAt }, reply) =>
      changing(transact, [key.accountId], async (orm) => {
        const working = await workingKeys(orm, key.accountId, key.createdAt);
        const replaced = working.filter((known) => keyId === null || known.keyId === keyId);
        if (keyId !== null && replaced.length === 0) return false;
        // What ends at once ends by the clock that all nodes share, however far ahead this node's is.
        const isAtOnce = endsAt <= key.createdAt;
        const end = isAtOnce ? sql<number>`least(${endsAt}::bigint, ${SERVER_NOW})` : endsAt;
        for (const { keyHash } of replaced) {
          const isLater = or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, end));
          await orm
            .update(apiKeys)
            .set({ expiresAt: end, rotatesAt: end })
            .where(and(eq(apiKeys.keyHash, keyHash), isLater));
        }
        await orm.insert(apiKeys).values(key);
        await putReply(orm, reply);
        return true;
      }),

    revokeKey: (accountId, keyId, at, check) =>
      changing(transact, [accountId], async (orm) => {
        const working = await workingKeys(orm, accountId, at);
        const key = working.find((known) => known.keyId === keyId);
        if (key === undefined) return false;
        // What is left has to work by the clock that all nodes share, however far behind this node's is.
        check(await workingKeys(orm, accountId, sql<number>`greatest(${at}::bigint, ${SERVER_NOW})`));
        await orm.update(apiKeys).set({ revokedAt: at }).where(eq(apiKeys.keyHash, key.keyHash));
        return true;
      }),

    // One statement in the order of the keys, so that two nodes never wait for each other.
    markKeysUsed: (uses) =>
      transact(async (orm) => {
        const sorted = [...uses].sort((one, other) => (one.keyHash < other.keyHash ? -1 : 1));
        for (const { keyHash, lastUsedAt } of sorted) {
          await orm
            .update(apiKeys)
            .set({ lastUsedAt: sql`greatest(${apiKeys.lastUsedAt}, ${lastUsedAt}::bigint)` })
            .where(eq(apiKeys.keyHash, keyHash));
        }
      }),

    emitExpiringKeys: ({ after, until, limit }, eventOf) =>
      transact(async (orm) => {
        const ending = orm
          .select({ keyHash: apiKeys.keyHash })
          .from(apiKeys)
          .where(
            and(
              gt(apiKeys.expiresAt, after),
              lte(apiKeys.expiresAt, until),
              isNull(apiKeys.expiryEventAt),
              isNull(apiKeys.revokedAt),
              isNull(apiKeys.rotatesAt),
            ),
          )
          .orderBy(asc(apiKeys.expiresAt))
          .limit(limit)
          .for("update", { skipLocked: true });
        const marked = await orm
          .update(apiKeys)
          .set({ expiryEventAt: after })
          .where(inArray(apiKeys.keyHash, ending))
          .returning(KEY_COLUMNS);
        for (const key of marked) await emit(orm, key.accountId, eventOf(key));
        return marked.length;
      }),
  };
}

function monthCases(transact: Transact, read: Read): MonthPort {
  return {
    readMonth: (accountId) => read((orm) => monthOf(orm, accountId)),

    enterMonth: (accountIds, monthsOf) =>
      changing(transact, accountIds, async (orm) => {
        for (const accountId of accountIds) {
          const { account, planPeriods: known } = await existingMonth(orm, accountId);
          let running = known.at(-1);
          if (running === undefined) continue;
          const started = monthsOf(account, running);
          for (const planPeriod of started) {
            await endPlanPeriod(orm, running.planPeriodId, running.periodEnd);
            const [inserted] = await orm.insert(planPeriods).values(planPeriod).returning();
            if (inserted === undefined) throw new Error("a plan period was not inserted");
            running = inserted;
          }
          if (started.length === 0) continue;
          await orm
            .update(accounts)
            .set({ plan: running.plan, pendingPlan: null })
            .where(eq(accounts.accountId, accountId));
        }
      }),

    accountsToEnter: (now, limit) =>
      read(async (orm) => {
        const rows = await orm
          .select({ accountId: planPeriods.accountId })
          .from(planPeriods)
          .where(and(isNull(planPeriods.endsAt), lte(planPeriods.periodEnd, now)))
          .orderBy(asc(planPeriods.periodEnd), asc(planPeriods.planPeriodId))
          .limit(limit);
        return rows.map(({ accountId }) => accountId);
      }),
  };
}

export async function endPlanPeriod(orm: Orm, planPeriodId: number, endsAt: number): Promise<void> {
  await orm.update(planPeriods).set({ endsAt }).where(eq(planPeriods.planPeriodId, planPeriodId));
}
