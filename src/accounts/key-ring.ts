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

/** The account of a key, with its plan. */
export type Account = {
  readonly accountId: string;
  readonly plan: Plan;
  readonly keyId: string;
  readonly scopes: readonly KeyScope[];
};

export type KeyRing = {
  /**
   * Returns the account of a key, or null for one that is mistyped, unknown or expired. Throws an ApiError `bad_key` where
   * the account is suspended.
   */
  readonly find: (key: string) => Answer<Account | null>;
  /** Returns the account of a key that expired at most `withinMs` ago; else null. */
  readonly findExpired: (key: string, withinMs: number) => Answer<Account | null>;
  /** Invalidates the cached keys of an account, whose plan or keys have changed. */
  readonly forget: (accountId: string) => void;
  /** Drops the cache, because changes may have been missed. */
  readonly forgetAll: () => void;
  /** Returns the hour of a key's last use where that is not written yet. */
  readonly notedUse: (keyHash: string) => number | undefined;
  /** Writes which keys were used, at once. Runs by itself, in slices, within a second of a use. */
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
  /** By the clock of the store, or for good. */
  readonly isExpired: boolean;
  readonly isSuspended: boolean;
  /** On the monotonic clock: five seconds, or the end of the hour where that comes first. */
  readonly knownUntilMs: number;
  /** Whether its use in this hour is recorded. */
  isUseNoted: boolean;
};

/** The cached account that its keys share. */
type Owner = {
  readonly plan: Plan;
  /** False once the account is invalidated: its keys are then read again. */
  isCurrent: boolean;
};

const KEYS_MAX = 50_000;
const TTL_MS = 5_000;
const HOUR_MS = 3_600_000;

/**
 * Finds accounts by key, cached for five seconds by the key's SHA-256. Unknown keys are cached apart, so that a flood of
 * them evicts no known one. The key itself is not kept, and the timing of a comparison of hashes reveals nothing about it.
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

  /** Single flight: concurrent calls with one key share one read. Emptied by every invalidation. */
  let readings = new Map<string, Promise<KnownKey | undefined>>();

  function read(key: string, digest: string): Answer<KnownKey | undefined> {
    const begun = readings.get(digest);
    if (begun !== undefined) return begun;
    const mode = modeOfKey(key);
    const found = store.findKey(hashApiKey(key));
    if (!(found instanceof Promise)) return remember(digest, found, mode);
    const among = readings;
    const reading = found
      // What was read before an invalidation is not cached.
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
    if (key === null) return undefined;
    const { accountId, keyId, expiresAt, lastUsedAt, revokedAt } = key;
    // The owner of one that was rotated at once may still ask for the reply of the rotation.
    if (revokedAt !== null && revokedAt !== key.rotatesAt) return undefined;
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
      isExpired: key.isExpiredThere === true || revokedAt !== null,
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
      // As `after`, a tenth faster on the path of every call.
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
    notedUse: uses.noted,
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
