import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import { storedPlanName } from "../metering/plan-periods.ts";
import { type Plan, type PlanCatalogue, planOf } from "../metering/plans.ts";
import type { Store } from "../store/open.ts";
import { API_KEY_CHARS, hashApiKey, isApiKeyWellFormed } from "./api-key.ts";

/** Whom a key belongs to, and what the plan of that account allows. */
export type Account = {
  readonly accountId: string;
  readonly plan: Plan;
};

export type KeyRing = {
  /** The account of a key, or null for one that is mistyped, unknown or expired. */
  readonly find: (key: string) => Account | null;
  /** The account of a key that has expired, at most so long ago; else null. */
  readonly findExpired: (key: string, withinMs: number) => Account | null;
  /** Forgets what is cached of an account: its plan or its keys have changed. */
  readonly forget: (accountId: string) => void;
};

type KnownKey = {
  readonly account: Account;
  readonly expiresAt: number | null;
};

const KEYS_MAX = 50_000;
const TTL_MS = 5_000;

/**
 * Finds accounts by key. Cached for five seconds by the key's SHA-256: known keys and unknown ones apart, so
 * that a flood of made-up keys pushes no real one out. The key itself is kept nowhere, and what a comparison of
 * hashes gives away in time says nothing about it.
 */
export function createKeyRing(parts: { store: Store; plans: PlanCatalogue; clock: Clock }): KeyRing {
  const { store, plans, clock } = parts;
  const bounds = { max: KEYS_MAX, ttl: TTL_MS, ttlResolution: 0, perf: { now: clock.monotonic } };
  const knownKeys = new LRUCache<string, KnownKey>(bounds);
  const unknownKeys = new LRUCache<string, true>(bounds);
  /** A known key holds only as long as its account is the one that stands here. */
  const accounts = new LRUCache<string, Account>(bounds);

  function load(keyHash: string): KnownKey | undefined {
    const key = store.accounts.findKey(keyHash);
    const row = key === undefined ? undefined : store.accounts.find(key.accountId);
    if (key === undefined || row === undefined) {
      unknownKeys.set(keyHash, true);
      return undefined;
    }
    const account = accounts.get(row.accountId) ?? {
      accountId: row.accountId,
      plan: planOf(plans, storedPlanName(row.plan)),
    };
    const known = { account, expiresAt: key.expiresAt };
    accounts.set(row.accountId, account);
    knownKeys.set(keyHash, known);
    return known;
  }

  function knownKey(key: string): KnownKey | undefined {
    if (key.length !== API_KEY_CHARS) return undefined;
    const keyHash = hashApiKey(key);
    const known = knownKeys.get(keyHash);
    if (known !== undefined && accounts.get(known.account.accountId) === known.account) return known;
    return unknownKeys.has(keyHash) || !isApiKeyWellFormed(key) ? undefined : load(keyHash);
  }

  return {
    find: (key) => {
      const known = knownKey(key);
      if (known === undefined || (known.expiresAt !== null && known.expiresAt <= clock.now())) return null;
      return known.account;
    },
    findExpired: (key, withinMs) => {
      const known = knownKey(key);
      if (known === undefined || known.expiresAt === null) return null;
      const expiredForMs = clock.now() - known.expiresAt;
      return expiredForMs >= 0 && expiredForMs <= withinMs ? known.account : null;
    },
    forget: (accountId) => {
      accounts.delete(accountId);
    },
  };
}
