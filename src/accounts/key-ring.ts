import { LRUCache } from "lru-cache";
import { storedPlanName } from "../billing/plan-periods.ts";
import { type Plan, type PlanCatalogue, planOf } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import type { KeyScope } from "../contract/words.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { StorageError } from "../store/storage-error.ts";
import { API_KEY_CHARS, hashApiKey, isApiKeyWellFormed } from "./api-key.ts";
import { readScopes } from "./key-scopes.ts";

/** Whom a key belongs to, and what the plan of that account allows. */
export type Account = {
  readonly accountId: string;
  readonly plan: Plan;
  readonly keyId: string;
  readonly scopes: readonly KeyScope[];
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
  /** Writes which keys were used since the last time; a second after the first of them it is done by itself. */
  readonly flushUses: () => void;
};

type KnownKey = {
  readonly account: Account;
  readonly owner: Owner;
  readonly expiresAt: number | null;
  readonly isSuspended: boolean;
  /** On the monotonic clock. */
  readonly knownUntilMs: number;
  /** The hour of the last use that is known. */
  usedAt: number | null;
};

/** An account as its keys know it. */
type Owner = {
  readonly plan: Plan;
  /** False once the account is forgotten: its keys are read anew then. */
  isCurrent: boolean;
};

const KEYS_MAX = 50_000;
const TTL_MS = 5_000;
const HOUR_MS = 3_600_000;
const USES_WAIT_MS = 1_000;

/**
 * Finds accounts by key. Cached for five seconds by the key's SHA-256: known keys and unknown ones apart, so
 * that a flood of made-up keys pushes no real one out. The key itself is kept nowhere, and what a comparison of
 * hashes gives away in time says nothing about it.
 */
export function createKeyRing(dependencies: {
  store: Pick<EmbeddedStore, "findKey" | "markKeysUsed" | "isOpen">;
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
    if (known?.plan === plan) return known;
    const owner = { plan, isCurrent: true };
    owners.set(accountId, owner);
    return owner;
  }

  function load(keyHash: string): KnownKey | undefined {
    const key = store.findKey(keyHash);
    if (key === null || key.revokedAt !== null) {
      unknownKeys.set(keyHash, true);
      return undefined;
    }
    const { accountId, keyId, expiresAt } = key;
    const plan = planOf(plans, storedPlanName(key.plan));
    const known = {
      account: { accountId, plan, keyId, scopes: readScopes(key.scopes) },
      owner: ownerOf(accountId, plan),
      expiresAt,
      usedAt: key.lastUsedAt,
      isSuspended: key.suspendedAt !== null,
      knownUntilMs: clock.monotonic() + TTL_MS,
    };
    knownKeys.set(keyHash, known);
    return known;
  }

  /** Hash of a key → the hour in which it was used. */
  const uses = new Map<string, number>();
  let usesTimer: Timer | undefined;

  function noteUse(key: string, known: KnownKey, now: number): void {
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    if (known.usedAt === hour) return;
    known.usedAt = hour;
    uses.set(hashApiKey(key), hour);
    usesTimer ??= setTimeout(flushUses, USES_WAIT_MS).unref();
  }

  function flushUses(): void {
    clearTimeout(usesTimer);
    usesTimer = undefined;
    if (uses.size === 0 || !store.isOpen()) return;
    const written = Array.from(uses, ([keyHash, lastUsedAt]) => ({ keyHash, lastUsedAt }));
    uses.clear();
    try {
      store.markKeysUsed(written);
    } catch (error) {
      // A disk that takes nothing shows in the calls that are charged.
      if (!(error instanceof StorageError)) throw error;
    }
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
      const now = clock.now();
      if (known === undefined || (known.expiresAt !== null && known.expiresAt <= now)) return null;
      if (known.isSuspended) throw new ApiError("bad_key", "The account is suspended; ask the operator.");
      noteUse(key, known, now);
      return known.account;
    },
    findExpired: (key, withinMs) => {
      const known = knownKey(key);
      if (known === undefined || known.expiresAt === null || known.isSuspended) return null;
      const expiredForMs = clock.now() - known.expiresAt;
      return expiredForMs >= 0 && expiredForMs <= withinMs ? known.account : null;
    },
    forget: (accountId) => {
      owners.delete(accountId);
    },
    flushUses,
  };
}
