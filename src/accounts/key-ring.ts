import { LRUCache } from "lru-cache";
import { storedPlanName } from "../billing/plan-periods.ts";
import { type Plan, type PlanCatalogue, planOf } from "../billing/plans.ts";
import { ApiError } from "../contract/errors.ts";
import type { KeyScope } from "../contract/words.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import { madeOnce } from "../platform/made-once.ts";
import { testTenantOf } from "../platform/test-tenant.ts";
import type { KeyPort } from "../store/account-port.ts";
import type { FoundKey } from "../store/account-records.ts";
import type { EmbeddedStore, Upkeep } from "../store/port.ts";
import {
  digestOfKey,
  hashApiKey,
  hasKeyLength,
  isApiKeyWellFormed,
  type KeyMode,
  modeOfKey,
} from "./api-key.ts";
import { readScopes } from "./key-scopes.ts";
import { createKeyUses } from "./key-uses.ts";

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
  readonly find: (key: string) => Answer<Account | null>;
  /** Returns the account of a key that expired at most `withinMs` ago; else null. */
  readonly findExpired: (key: string, withinMs: number) => Answer<Account | null>;
  /** Forgets what is cached of an account: its plan or its keys have changed. */
  readonly forget: (accountId: string) => void;
  /** Forgets all that is cached: what became of it is not known. */
  readonly forgetAll: () => void;
  /** Writes which keys were used since the last time; a second after the first of them it is done by itself. */
  readonly flushUses: () => Answer<void>;
};

type KeyRingFunctions = "findKey" | "markKeysUsed" | "isOpen";
type KeyRingStore = Pick<KeyPort & Upkeep, KeyRingFunctions>;
type KeyRingDependencies<Stored> = {
  readonly store: Stored;
  readonly plans: PlanCatalogue;
  readonly clock: Clock;
};

type KnownKey = {
  readonly account: Account;
  readonly owner: Owner;
  readonly expiresAt: number | null;
  /** By the clock of the store. */
  readonly isExpired: boolean;
  readonly isSuspended: boolean;
  /** On the monotonic clock: five seconds, or the end of the hour where that comes first. */
  readonly knownUntilMs: number;
  /** Whether the use in this hour is known. */
  isUseNoted: boolean;
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

/**
 * Finds accounts by key. Cached for five seconds by the key's SHA-256: known keys and unknown ones apart, so
 * that a flood of made-up keys pushes no real one out. The key itself is kept nowhere, and what a comparison of
 * hashes gives away in time says nothing about it.
 */
export function createKeyRing(
  dependencies: KeyRingDependencies<Pick<EmbeddedStore, KeyRingFunctions>>,
): AtOnce<KeyRing>;
export function createKeyRing(dependencies: KeyRingDependencies<KeyRingStore>): KeyRing;
export function createKeyRing(dependencies: KeyRingDependencies<KeyRingStore>): KeyRing {
  const { store, plans, clock } = dependencies;
  const uses = createKeyUses(store);
  const knownKeys = madeOnce(() => new LRUCache<string, KnownKey>({ max: KEYS_MAX }));
  const unknownKeys = madeOnce(
    () =>
      new LRUCache<string, true>({
        max: KEYS_MAX,
        ttl: TTL_MS,
        ttlResolution: 0,
        perf: { now: clock.monotonic },
      }),
  );
  const owners = madeOnce(
    () =>
      new LRUCache<string, Owner>({
        max: KEYS_MAX,
        dispose: (owner) => {
          owner.isCurrent = false;
        },
      }),
  );

  function ownerOf(accountId: string, plan: Plan): Owner {
    const known = owners.get().get(accountId);
    if (known?.plan === plan) return known;
    const owner = { plan, isCurrent: true };
    owners.get().set(accountId, owner);
    return owner;
  }

  /** Readings under way: calls of one key that come at once wait for one. Empty once anything is forgotten. */
  let readings = new Map<string, Promise<KnownKey | undefined>>();

  function read(key: string, digest: string): Answer<KnownKey | undefined> {
    const begun = readings.get(digest);
    if (begun !== undefined) return begun;
    const mode = modeOfKey(key);
    const found = store.findKey(hashApiKey(key));
    if (!(found instanceof Promise)) return remember(digest, found, mode);
    const among = readings;
    const reading = found
      // What was forgotten meanwhile is what was read.
      .then((row) => (among === readings ? remember(digest, row, mode) : understood(row, mode)))
      .finally(() => among.delete(digest));
    among.set(digest, reading);
    return reading;
  }

  function remember(digest: string, key: FoundKey | null, mode: KeyMode): KnownKey | undefined {
    const known = understood(key, mode);
    if (known === undefined) unknownKeys.get().set(digest, true);
    else knownKeys.get().set(digest, known);
    return known;
  }

  function understood(key: FoundKey | null, mode: KeyMode): KnownKey | undefined {
    if (key === null || key.revokedAt !== null) return undefined;
    const { accountId, keyId, expiresAt, lastUsedAt } = key;
    const now = clock.now();
    const hour = hourOf(now);
    const plan = planOf(plans, storedPlanName(key.plan));
    const holder =
      mode === "live"
        ? { accountId, plan }
        : { accountId: testTenantOf(accountId), plan: planOf(plans, "free") };
    return {
      account: { ...holder, keyId, scopes: readScopes(key.scopes) },
      owner: ownerOf(accountId, plan),
      expiresAt,
      isExpired: key.isExpiredThere === true,
      isSuspended: key.suspendedAt !== null,
      knownUntilMs: clock.monotonic() + Math.min(TTL_MS, hour + HOUR_MS - now),
      isUseNoted: lastUsedAt === hour,
    };
  }

  function knownKey(key: string): Answer<KnownKey | undefined> {
    if (!hasKeyLength(key)) return undefined;
    const digest = digestOfKey(key);
    const known = knownKeys.get().get(digest);
    if (known?.owner.isCurrent && clock.monotonic() < known.knownUntilMs) return known;
    if (unknownKeys.known()?.has(digest) === true || !isApiKeyWellFormed(key)) return undefined;
    return read(key, digest);
  }

  function accountOf(key: string, known: KnownKey | undefined): Account | null {
    if (known === undefined || expiredForMs(known, clock) !== null) return null;
    if (known.isSuspended) throw new ApiError("bad_key", "The account is suspended; ask the operator.");
    if (!known.isUseNoted) {
      known.isUseNoted = true;
      uses.note(hashApiKey(key), hourOf(clock.now()));
    }
    return known.account;
  }

  return {
    find: (key) => {
      const known = knownKey(key);
      // What `after` does, a tenth quicker where every call comes by.
      return known instanceof Promise ? known.then((later) => accountOf(key, later)) : accountOf(key, known);
    },
    findExpired: (key, withinMs) =>
      after(knownKey(key), (known) => {
        if (known === undefined || known.isSuspended) return null;
        const agoMs = expiredForMs(known, clock);
        return agoMs !== null && agoMs <= withinMs ? known.account : null;
      }),
    forget: (accountId) => {
      readings = new Map();
      owners.known()?.delete(accountId);
    },
    forgetAll: () => {
      readings = new Map();
      owners.known()?.clear();
      unknownKeys.known()?.clear();
    },
    flushUses: uses.flush,
  };
}

/** Returns how long ago a key expired, by the clock of this process or that of the store; null where it did not. */
function expiredForMs({ expiresAt, isExpired }: KnownKey, clock: Clock): number | null {
  if (expiresAt === null) return null;
  const now = clock.now();
  return expiresAt > now && !isExpired ? null : Math.max(0, now - expiresAt);
}

function hourOf(now: number): number {
  return Math.floor(now / HOUR_MS) * HOUR_MS;
}
