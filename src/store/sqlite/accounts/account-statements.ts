import { and, asc, desc, eq, getTableColumns, gt, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { AccountRecord, FoundKey, KeyRecord } from "../../account-records.ts";
import { endedKeys, workingKeys as workingKeysAt } from "../../conditions.ts";
import { erasingMailbox } from "../../erased-mailbox.ts";
import { ENDED_KEYS_MAX, listedKeys, oldestFirst } from "../../listed-keys.ts";
import type { Orm } from "../connection/orm.ts";
import { createDueTime } from "../due-time.ts";
import { accounts, apiKeys } from "../schema.ts";
import { createEndedKeyStatements } from "./ended-key-statements.ts";

export type AccountStatements = ReturnType<typeof createAccountStatements>;

/** Accounts and the hashes of their keys. */
export function createAccountStatements(orm: Orm) {
  const byId = madeOnce(() =>
    orm
      .select()
      .from(accounts)
      .where(eq(accounts.accountId, sql.placeholder("accountId")))
      .prepare(),
  ).get;
  const { expiryEventAt, ...keyColumns } = getTableColumns(apiKeys);
  const keyByHash = madeOnce(() =>
    orm
      .select({ ...keyColumns, plan: accounts.plan, suspendedAt: accounts.suspendedAt })
      .from(apiKeys)
      .innerJoin(accounts, eq(accounts.accountId, apiKeys.accountId))
      .where(and(eq(apiKeys.keyHash, sql.placeholder("keyHash")), isNull(accounts.erasedAt)))
      .prepare(),
  ).get;
  const isWithoutEvent = and(isNull(expiryEventAt), isNull(apiKeys.revokedAt), isNull(apiKeys.rotatesAt));
  const expiringKeys = madeOnce(() =>
    orm
      .select(keyColumns)
      .from(apiKeys)
      .where(
        and(
          gt(apiKeys.expiresAt, sql.placeholder("after")),
          lte(apiKeys.expiresAt, sql.placeholder("until")),
          isWithoutEvent,
        ),
      )
      .orderBy(asc(apiKeys.expiresAt))
      .limit(sql.placeholder("limit"))
      .prepare(),
  ).get;

  // Looked at every two seconds by a server that has nothing else to do.
  const expiry = createDueTime(
    (after) =>
      orm
        .select({ expiresAt: apiKeys.expiresAt })
        .from(apiKeys)
        .where(and(gt(apiKeys.expiresAt, after), isWithoutEvent))
        .orderBy(asc(apiKeys.expiresAt))
        .limit(1)
        .get()?.expiresAt ?? null,
  );

  const keysThat = (which: SQL | undefined) => orm.select(keyColumns).from(apiKeys).where(which);

  /** Keys of an account that work at a time, oldest first. */
  const workingKeys = (accountId: string, at: number): KeyRecord[] => {
    const [unending, ending] = workingKeysAt(apiKeys, accountId, at);
    return [...keysThat(unending).all(), ...keysThat(ending).all()].sort(oldestFirst);
  };

  const { removeSurplusKeys, ...endedKeyRemovals } = createEndedKeyStatements(orm);

  return {
    /** False, and nothing written, where an account with this normalized mailbox exists. */
    insert: (row: AccountRecord): boolean =>
      orm
        .insert(accounts)
        .values(row)
        .onConflictDoNothing({ target: accounts.normalized })
        .returning({ accountId: accounts.accountId })
        .all().length > 0,

    find: (accountId: string): AccountRecord | undefined => byId().get({ accountId }),

    setPlan: (accountId: string, plan: string, pendingPlan: string | null): void => {
      orm.update(accounts).set({ plan, pendingPlan }).where(eq(accounts.accountId, accountId)).run();
    },

    setSpendLimit: (accountId: string, spendLimitMicroUsd: number | null): void => {
      orm.update(accounts).set({ spendLimitMicroUsd }).where(eq(accounts.accountId, accountId)).run();
    },

    setSuspended: (accountId: string, suspendedAt: number | null): void => {
      orm.update(accounts).set({ suspendedAt }).where(eq(accounts.accountId, accountId)).run();
    },

    findByMailbox: (normalized: string): AccountRecord | undefined =>
      orm.select().from(accounts).where(eq(accounts.normalized, normalized)).get(),

    /** Up to `limit` accounts in the order of their ids, after `afterId`. */
    page: (afterId: string, limit: number): AccountRecord[] =>
      orm
        .select()
        .from(accounts)
        .where(gt(accounts.accountId, afterId))
        .orderBy(asc(accounts.accountId))
        .limit(limit)
        .all(),

    /** Removes the personal data and the working keys of an account. Its id, counts and invoices stay. */
    erase: (accountId: string, erasedAt: number): void => {
      for (const { keyHash } of workingKeys(accountId, erasedAt))
        orm.delete(apiKeys).where(eq(apiKeys.keyHash, keyHash)).run();
      const nothing = { name: null, company: null, country: null, referralCode: null, pendingPlan: null };
      orm
        .update(accounts)
        .set({ ...nothing, email: "", normalized: erasingMailbox(accountId), erasedAt })
        .where(eq(accounts.accountId, accountId))
        .run();
    },

    /** Ended keys that are of no use go with it, so that a caller who rotates in a loop leaves no more of them. */
    insertKey: (row: KeyRecord): void => {
      orm.insert(apiKeys).values(row).run();
      removeSurplusKeys(row.accountId, row.createdAt);
      expiry.changed();
    },

    findKey: (keyHash: string): FoundKey | undefined => keyByHash().get({ keyHash }),

    workingKeys,

    /** Keys of an account that work, and those that ended last, oldest first. */
    keys: (accountId: string, endedAfter: number, now: number = endedAfter): KeyRecord[] => {
      const { expired, revoked } = endedKeys(apiKeys, accountId, endedAfter, now);
      const ended = [
        ...keysThat(expired).orderBy(desc(apiKeys.expiresAt)).limit(ENDED_KEYS_MAX).all(),
        ...keysThat(revoked).orderBy(desc(apiKeys.revokedAt)).limit(ENDED_KEYS_MAX).all(),
      ];
      return listedKeys(workingKeys(accountId, now), ended);
    },

    ...endedKeyRemovals,

    /** Ends a key by rotation, unless it ends before; `forGood` where no clock that is set back may revive it. */
    endKey: (keyHash: string, endsAt: number, forGood: boolean): void => {
      orm
        .update(apiKeys)
        .set({ expiresAt: endsAt, rotatesAt: endsAt, ...(forGood ? { revokedAt: endsAt } : {}) })
        .where(
          and(eq(apiKeys.keyHash, keyHash), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, endsAt))),
        )
        .run();
    },

    /** Whether no key ends by itself between these times without an event. Not to be asked in a transaction. */
    isNoneExpiring: (after: number, until: number): boolean => expiry.isNone(until, after),

    /** Up to `limit` keys that end between these times by themselves, and have had no event. */
    expiringKeys: (after: number, until: number, limit: number): KeyRecord[] =>
      expiringKeys().all({ after, until, limit }),

    markExpiryEvent: (keyHash: string, at: number): void => {
      orm.update(apiKeys).set({ expiryEventAt: at }).where(eq(apiKeys.keyHash, keyHash)).run();
    },

    revokeKey: (keyHash: string, revokedAt: number): void => {
      orm.update(apiKeys).set({ revokedAt }).where(eq(apiKeys.keyHash, keyHash)).run();
    },
  };
}
