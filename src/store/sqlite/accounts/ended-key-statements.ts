import { and, asc, desc, eq, inArray, isNull, lt, lte, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { madeOnce } from "../../../platform/made-once.ts";
import { ENDED_KEYS_MAX, KEY_REPEAT_MS, SURPLUS_AT_ONCE_MAX } from "../../listed-keys.ts";
import type { Orm } from "../connection/orm.ts";
import { apiKeys } from "../schema.ts";

/** The removal of keys that nobody needs any more. */
export function createEndedKeyStatements(orm: Orm) {
  const { keyHash, accountId, expiresAt, revokedAt } = apiKeys;

  /** Removes up to `limit` keys, those that ended first; returns how many. */
  const removeSome = (which: SQL | undefined, endedAt: AnySQLiteColumn, limit: number): number => {
    const some = orm.select({ keyHash }).from(apiKeys).where(which).orderBy(asc(endedAt)).limit(limit);
    return orm.delete(apiKeys).where(inArray(keyHash, some)).returning({ keyHash }).all().length;
  };

  const own = eq(accountId, sql.placeholder("ownerId"));

  /** Keys of an account that ended in one way, but for those of the last that are listed. */
  const surplus = (which: SQL | undefined, endedAt: AnySQLiteColumn) =>
    madeOnce(() => {
      const lastListed = orm
        .select({ endedAt })
        .from(apiKeys)
        .where(and(which, lte(endedAt, sql.placeholder("now"))))
        .orderBy(desc(endedAt))
        .limit(1)
        .offset(ENDED_KEYS_MAX - 1);
      const some = orm
        .select({ keyHash })
        .from(apiKeys)
        .where(and(which, lt(endedAt, lastListed), lt(endedAt, sql.placeholder("oldBefore"))))
        .orderBy(asc(endedAt))
        .limit(SURPLUS_AT_ONCE_MAX);
      return orm.delete(apiKeys).where(inArray(keyHash, some)).prepare();
    }).get;
  const surplusRevoked = surplus(own, revokedAt);
  const surplusExpired = surplus(and(own, isNull(revokedAt)), expiresAt);

  return {
    /** Removes some keys of an account that have ended, are not listed, and are too old to repeat a rotation with. */
    removeSurplusKeys: (ownerId: string, now: number): void => {
      const ended = { ownerId, now, oldBefore: now - KEY_REPEAT_MS };
      surplusRevoked().run(ended);
      surplusExpired().run(ended);
    },

    /** Removes up to `limit` keys that ended at a time or before; returns how many. */
    removeEndedKeys: (endedUntil: number, limit: number): number => {
      const revoked = removeSome(lte(revokedAt, endedUntil), revokedAt, limit);
      if (revoked === limit) return limit;
      const expired = and(isNull(revokedAt), lte(expiresAt, endedUntil));
      return revoked + removeSome(expired, expiresAt, limit - revoked);
    },

    /** Removes up to `limit` keys of an account; returns how many. */
    removeKeysOf: (ownerId: string, limit: number): number => {
      const some = orm.select({ keyHash }).from(apiKeys).where(eq(accountId, ownerId)).limit(limit);
      return orm.delete(apiKeys).where(inArray(keyHash, some)).returning({ keyHash }).all().length;
    },
  };
}
