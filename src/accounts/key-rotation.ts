import { secondOf } from "../billing/period.ts";
import { ApiError } from "../contract/errors.ts";
import { KEY_SCOPES } from "../contract/words.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { KeyPort, ReplyOf } from "../store/account-port.ts";
import type { KeyRecord } from "../store/account-records.ts";
import {
  hashApiKey,
  KEY_PREFIXES,
  type KeyMode,
  makeApiKey,
  modeOfKey,
  type RandomBytes,
  randomBase62,
} from "./api-key.ts";
import type { KeyRing } from "./key-ring.ts";
import { writtenScopes } from "./key-scopes.ts";

export type KeyRotation = {
  readonly overlapSeconds: number;
  /** The key to replace; all of the account where it is null or left out. */
  readonly keyId?: string | null;
  /** Whether it is the key of the call. */
  readonly isOfCall?: boolean;
};

export type RotatedKey = { readonly apiKey: string; readonly oldKeyExpiresAt: string };

/** A new key, and its stored record. */
export type NewKey = { readonly apiKey: string; readonly record: KeyRecord };

/** Keys of an account that work at a time. */
export const KEYS_MAX = 100;

const KEY_ID_CHARS = 20;
const HINT_CHARS = 4;
const OVERLAP_WITHOUT_ROOM = `An account has at most ${KEYS_MAX} keys that work: delete one, or rotate without an overlap.`;

/** Creates a key, with every scope unless `more` has others. */
export function makeKey(
  randomBytes: RandomBytes,
  accountId: string,
  now: number,
  more: Partial<Pick<KeyRecord, "name" | "scopes" | "expiresAt">> = {},
  mode: KeyMode = "live",
): NewKey {
  const apiKey = makeApiKey(randomBytes, mode);
  const unused = { name: null, lastUsedAt: null, expiresAt: null, rotatesAt: null, revokedAt: null };
  const record = {
    ...unused,
    keyHash: hashApiKey(apiKey),
    accountId,
    keyId: `key_${randomBase62(KEY_ID_CHARS, randomBytes)}`,
    hint: `${KEY_PREFIXES[mode]}…${apiKey.slice(-HINT_CHARS)}`,
    scopes: writtenScopes(KEY_SCOPES),
    createdAt: now,
    ...more,
  };
  return { apiKey, record };
}

/** Returns the record of a key of which only the hash is known, with every scope. */
export function hashedKeyRecord(keyHash: string, accountId: string, now: number): KeyRecord {
  const unused = { name: null, lastUsedAt: null, expiresAt: null, rotatesAt: null, revokedAt: null };
  const keyId = `key_${keyHash.slice(0, KEY_ID_CHARS)}`;
  const scopes = writtenScopes(KEY_SCOPES);
  return { ...unused, keyHash, accountId, keyId, hint: "asy_", scopes, createdAt: now };
}

/**
 * Replaces a key by a new one with its name and scopes, or all keys where none is named. The old ones expire after the
 * overlap, or earlier where that was set before. Writes the reply of `replyOf` in the same transaction. Throws an ApiError
 * `not_found` where there is no such valid key, `bad_key` where it is the key of the call, which has ended meanwhile, and
 * `invalid_request` for an overlap where as many keys work as may.
 */
export function rotateKey(
  dependencies: {
    store: Pick<KeyPort, "rotateKey" | "listKeys">;
    keyRing: KeyRing;
    clock: Clock;
    randomBytes: RandomBytes;
  },
  accountId: string,
  { overlapSeconds, keyId = null, isOfCall = false }: KeyRotation,
  replyOf: ReplyOf<RotatedKey>,
): Answer<RotatedKey> {
  const { store, keyRing, clock, randomBytes } = dependencies;
  const now = Math.floor(clock.now());
  // Rounded down to the second that is announced.
  const endsAt = Math.floor(now / 1_000) * 1_000 + overlapSeconds * 1_000;
  return after(store.listKeys(accountId, now), (keys) => {
    const old = keys.find((key) => key.keyId === keyId);
    const inherited = old === undefined ? {} : { name: old.name, scopes: old.scopes };
    const mode = old === undefined ? "live" : modeOfKey(old.hint);
    const { apiKey, record } = makeKey(randomBytes, accountId, now, inherited, mode);
    const oldEndsAt = Math.min(endsAt, old?.expiresAt ?? endsAt);
    const rotated = { apiKey, oldKeyExpiresAt: secondOf(oldEndsAt) };
    const check = (working: readonly KeyRecord[]): void => {
      if (overlapSeconds === 0 || working.length < KEYS_MAX) return;
      throw new ApiError("invalid_request", OVERLAP_WITHOUT_ROOM);
    };
    return after(store.rotateKey(record, { keyId, endsAt, check }, replyOf(rotated)), (isRotated) => {
      if (!isRotated && isOfCall) throw new ApiError("bad_key");
      if (!isRotated) throw new ApiError("not_found", "The account has no such key that works.");
      keyRing.forget(accountId);
      return rotated;
    });
  });
}
