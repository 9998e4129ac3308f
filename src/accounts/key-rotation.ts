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

export type RotatedKey = { readonly apiKey: string; readonly oldKeyExpiresAt: string };

/** A key that is shown this once, and what is kept of it. */
export type NewKey = { readonly apiKey: string; readonly record: KeyRecord };

const KEY_ID_CHARS = 20;
const HINT_CHARS = 4;

/** Returns a new key with every scope, unless `more` says otherwise. */
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

/** Returns what is kept of a key of which the hash alone is known, with every scope. */
export function hashedKeyRecord(keyHash: string, accountId: string, now: number): KeyRecord {
  const unused = { name: null, lastUsedAt: null, expiresAt: null, rotatesAt: null, revokedAt: null };
  const keyId = `key_${keyHash.slice(0, KEY_ID_CHARS)}`;
  const scopes = writtenScopes(KEY_SCOPES);
  return { ...unused, keyHash, accountId, keyId, hint: "asy_", scopes, createdAt: now };
}

/**
 * Gives the account a new key in the place of another, with its name and scopes, or in the place of all where no key
 * is named. These end after the overlap, or earlier where an earlier end was set before. What `replyOf` returns is
 * written in the same transaction. Throws an ApiError `not_found` where no such key works.
 */
export function rotateKey(
  dependencies: {
    store: Pick<KeyPort, "rotateKey" | "listKeys">;
    keyRing: KeyRing;
    clock: Clock;
    randomBytes: RandomBytes;
  },
  accountId: string,
  { overlapSeconds, keyId = null }: { readonly overlapSeconds: number; readonly keyId?: string | null },
  replyOf: ReplyOf<RotatedKey>,
): Answer<RotatedKey> {
  const { store, keyRing, clock, randomBytes } = dependencies;
  const now = Math.floor(clock.now());
  // To the second, as it is announced, and never later than that.
  const endsAt = Math.floor(now / 1_000) * 1_000 + overlapSeconds * 1_000;
  return after(store.listKeys(accountId, now), (keys) => {
    const old = keys.find((key) => key.keyId === keyId);
    const inherited = old === undefined ? {} : { name: old.name, scopes: old.scopes };
    const mode = old === undefined ? "live" : modeOfKey(old.hint);
    const { apiKey, record } = makeKey(randomBytes, accountId, now, inherited, mode);
    const rotated = { apiKey, oldKeyExpiresAt: secondOf(endsAt) };
    return after(store.rotateKey(record, { keyId, endsAt }, replyOf(rotated)), (isRotated) => {
      if (!isRotated) throw new ApiError("not_found", "The account has no such key that works.");
      keyRing.forget(accountId);
      return rotated;
    });
  });
}
