import { LRUCache } from "lru-cache";
import { storedPlanName } from "../billing/plan-periods.ts";
import { type Plan, type PlanCatalogue, planOf } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { API_KEY_CHARS, hashApiKey, isApiKeyWellFormed } from "./api-key.ts";

/** Whom a key belongs to, and what the plan of that account allows. */
export type Account = {
  readonly accountId: string;
  readonly plan: Plan;
};

export type KeyRing = {
  /**
   * Returns the account of a key, or null for one that is mistyped, unknown or expired. Throws an ApiError `bad_key`
   * that says so where the account is suspended.
   */
  readonly find: (key: string) => Account | null;
  /** The account of a key that has expired, at most so long ago; else null. */
  readonly findExpired: (key: string, withinMs: number) => Account | null;
  /** Forgets what is cached of an account: its plan or its keys have changed. */
  readonly forget: (accountId: string) => void;
};

type KnownKey = {
  readonly owner: Owner;
  readonly expiresAt: number | null;
  readonly isSuspended: boolean;
  /** On the monotonic clock. */
  readonly knownUntilMs: number;
};

/** An account as its keys know it. */
type Owner = {
  readonly account: Account;
  /** False once the account is forgotten: its keys are read anew then. */
  isCurrent: boolean;
};

const KEYS_MAX = 50_000;
const TTL_MS = 5_000;

/**
 * Finds accounts by key. Cached for five seconds by the key's SHA-256: known keys and unknown ones apart, so
 * that a flood of made-up keys pushes no real one out. The key itself is kept nowhere, and what a comparison of
 * hashes gives away in time says nothing about it.
 */
export function createKeyRing(dependencies: {
  store: Pick<EmbeddedStore, "findKey">;
  plans: PlanCatalogue;
  clock: Clock;
}): KeyRing {
  const { store, plans, clock } = dependencies;
  const knownKeys = new LRUCache<string, KnownKey>({ max: KEYS_MAX });
  const unknownKeys = new LRUCache<string, true>({
    max: KEYS_MAX,
    ttl: TTL_MS,
    ttlResolution: 0,
    perf: { now: clock.monotonic },
  });
  const owners = new LRUCache<string, Owner>({
    max: KEYS_MAX,
    dispose: (owner) => {
      owner.isCurrent = false;
    },
  });

  function ownerOf(accountId: string, plan: Plan): Owner {
    const known = owners.get(accountId);
    if (known?.account.plan === plan) return known;
    const owner = { account: { accountId, plan }, isCurrent: true };
    owners.set(accountId, owner);
    return owner;
  }

  function load(keyHash: string): KnownKey | undefined {
    const key = store.findKey(keyHash);
    if (key === null) {
      unknownKeys.set(keyHash, true);
      return undefined;
    }
    const known = {
      owner: ownerOf(key.accountId, planOf(plans, storedPlanName(key.plan))),
      expiresAt: key.expiresAt,
      isSuspended: key.suspendedAt !== null,
      knownUntilMs: clock.monotonic() + TTL_MS,
    };
    knownKeys.set(keyHash, known);
    return known;
  }

  function knownKey(key: string): KnownKey | undefined {
    if (key.length !== API_KEY_CHARS) return undefined;
    const keyHash = hashApiKey(key);
    const known = knownKeys.get(keyHash);
    if (known?.owner.isCurrent && clock.monotonic() < known.knownUntilMs) return known;
    return unknownKeys.has(keyHash) || !isApiKeyWellFormed(key) ? undefined : load(keyHash);
  }

  return {
    find: (key) => {
      const known = knownKey(key);
      if (known === undefined || (known.expiresAt !== null && known.expiresAt <= clock.now())) return null;
      if (known.isSuspended) throw new ApiError("bad_key", "The account is suspended; ask the operator.");
      return known.owner.account;
    },
    findExpired: (key, withinMs) => {
      const known = knownKey(key);
      if (known === undefined || known.expiresAt === null || known.isSuspended) return null;
      const expiredForMs = clock.now() - known.expiresAt;
      return expiredForMs >= 0 && expiredForMs <= withinMs ? known.owner.account : null;
    },
    forget: (accountId) => {
      owners.delete(accountId);
    },
  };
}
