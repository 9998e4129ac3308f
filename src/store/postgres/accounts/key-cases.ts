import { and, asc, eq, gt, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { KeyPort } from "../../account-port.ts";
import type { KeyRecord } from "../../account-records.ts";
import { lockUnerased } from "../account-locks.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { SERVER_NOW, STATEMENT_NOW } from "../connection/server-clock.ts";
import { keepReply } from "../reply-rows.ts";
import { accounts, apiKeys } from "../schema.ts";
import { emit } from "../webhooks/webhook-rows.ts";
import { changing } from "./account-cases.ts";
import { insertKey, KEY_COLUMNS, keysOf, removeEnded, workingKeysOf } from "./account-rows.ts";

/** The keys of accounts. */
export function createKeyCases({ transact, read }: Connection, processId: string): KeyPort {
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
          .where(and(eq(apiKeys.keyHash, keyHash), isNull(accounts.erasedAt)));
        if (row === undefined) return null;
        const { key, ...rest } = row;
        return { ...key, ...rest };
      }),

    listKeys: (accountId, endedAfter, now = endedAfter) =>
      read((orm) => keysOf(orm, accountId, endedAfter, now)),

    addKey: (key, keysMax, reply) =>
      changing(transact, [key.accountId], async (orm) => {
        await lockUnerased(orm, key.accountId);
        if ((await workingKeysOf(orm, key.accountId, key.createdAt)).length >= keysMax) return false;
        await insertKey(orm, key);
        await keepReply(orm, processId, reply);
        return true;
      }),

    rotateKey: (key, { keyId, endsAt, check }, reply) =>
      changing(transact, [key.accountId], async (orm) => {
        await lockUnerased(orm, key.accountId);
        const working = await workingKeysOf(orm, key.accountId, key.createdAt);
        const replaced = working.filter((known) => keyId === null || known.keyId === keyId);
        if (keyId !== null && replaced.length === 0) return false;
        check?.(working);
        await replace(orm, replaced, key, endsAt);
        await keepReply(orm, processId, reply);
        return true;
      }),

    revokeKey: (accountId, keyId, at, check) =>
      changing(transact, [accountId], async (orm) => {
        const working = await workingKeysOf(orm, accountId, at);
        const key = working.find((known) => known.keyId === keyId);
        if (key === undefined) return false;
        // What is left has to work by the clock that all nodes share, however far behind this node's is.
        check(await workingKeysOf(orm, accountId, sql<number>`greatest(${at}::bigint, ${STATEMENT_NOW})`));
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

    removeEndedKeys: (endedUntil, limit) => transact((orm) => removeEnded(orm, endedUntil, limit)),
  };
}

/** Ends all keys of an account as the given one begins. */
export async function replaceKeys(orm: Orm, key: KeyRecord): Promise<void> {
  await lockUnerased(orm, key.accountId);
  await replace(orm, await workingKeysOf(orm, key.accountId, key.createdAt), key, key.createdAt);
}

async function replace(
  orm: Orm,
  replaced: readonly KeyRecord[],
  key: KeyRecord,
  endsAt: number,
): Promise<void> {
  // What ends at once ends by the clock that all nodes share, however far ahead this node's is.
  const isAtOnce = endsAt <= key.createdAt;
  const end = isAtOnce ? sql<number>`least(${endsAt}::bigint, ${STATEMENT_NOW})` : endsAt;
  for (const { keyHash } of replaced) {
    const isLater = or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, end));
    await orm
      .update(apiKeys)
      .set({ expiresAt: end, rotatesAt: end, ...(isAtOnce ? { revokedAt: end } : {}) })
      .where(and(eq(apiKeys.keyHash, keyHash), isLater));
  }
  await insertKey(orm, key);
}
