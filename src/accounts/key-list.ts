import { secondOf } from "../billing/period.ts";
import { ApiError } from "../contract/errors.ts";
import type { CreatedKeyBody, KeyEntryBody } from "../contract/specification/accounts/account-replies.ts";
import { KEY_SCOPES, type KeyScope } from "../contract/words.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { KeyPort, ReplyOf } from "../store/account-port.ts";
import type { KeyRecord } from "../store/account-records.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { type KeyMode, modeOfKey, type RandomBytes } from "./api-key.ts";
import { ENDED_KEPT_MS } from "./ended-keys.ts";
import type { KeyRing } from "./key-ring.ts";
import { KEYS_MAX, makeKey } from "./key-rotation.ts";
import { readScopes, writtenScopes } from "./key-scopes.ts";
import { momentOf } from "./moment.ts";

/** A key on the wire. */
export type KeyView = KeyEntryBody;
export type CreatedKey = CreatedKeyBody;

export type KeyFields = {
  /** Live unless named. */
  readonly mode?: KeyMode;
  readonly name: string | null;
  readonly scopes: readonly KeyScope[] | null;
  readonly expiresAt: string | null;
};

export type Keys = {
  /** Returns the valid keys, and the last 500 of those that ended in the last 30 days, oldest first. */
  readonly list: (accountId: string) => Answer<{ readonly data: readonly KeyView[] }>;
  /** Throws an ApiError `invalid_request` for an expiry in the past, and where there are 100 valid keys. */
  readonly create: (
    accountId: string,
    fields: KeyFields,
    replyOf?: ReplyOf<CreatedKey>,
  ) => Answer<CreatedKey>;
  /** Throws an ApiError `not_found`, or `invalid_request` for the last key with the scope `account`. */
  readonly remove: (accountId: string, keyId: string) => Answer<void>;
};

type KeysFunctions = "listKeys" | "addKey" | "revokeKey";
type KeysDependencies<Stored, Ring> = {
  readonly store: Stored;
  readonly keyRing: Ring;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
};

/** Creates the operations on the keys of an account. */
export function createKeys(
  dependencies: KeysDependencies<Pick<EmbeddedStore, KeysFunctions>, AtOnce<KeyRing>>,
): AtOnce<Keys>;
export function createKeys(dependencies: KeysDependencies<Pick<KeyPort, KeysFunctions>, KeyRing>): Keys;
export function createKeys(dependencies: KeysDependencies<Pick<KeyPort, KeysFunctions>, KeyRing>): Keys {
  const { store, keyRing, clock, randomBytes } = dependencies;
  return {
    list: (accountId) => {
      const now = Math.floor(clock.now());
      const view = (key: KeyRecord): KeyView =>
        keyView({ ...key, lastUsedAt: keyRing.notedUse(key.keyHash) ?? key.lastUsedAt });
      return after(store.listKeys(accountId, now - ENDED_KEPT_MS, now), (keys) => ({ data: keys.map(view) }));
    },

    create: (accountId, { mode = "live", name, scopes, expiresAt }, replyOf = () => null) => {
      const now = Math.floor(clock.now());
      const more = {
        name,
        scopes: writtenScopes(scopes ?? KEY_SCOPES),
        expiresAt: expiresAt === null ? null : readEnd(expiresAt, now),
      };
      const { apiKey, record } = makeKey(randomBytes, accountId, now, more, mode);
      const created = { ...keyView(record), api_key: apiKey };
      return after(store.addKey(record, KEYS_MAX, replyOf(created)), (isAdded) => {
        if (isAdded) return created;
        throw new ApiError("invalid_request", `An account has at most ${KEYS_MAX} keys that work.`);
      });
    },

    remove: (accountId, keyId) => {
      const revoked = store.revokeKey(accountId, keyId, Math.floor(clock.now()), (working) => {
        // A test key cannot manage the account.
        const others = working.filter((key) => key.keyId !== keyId && modeOfKey(key.hint) === "live");
        if (others.some(({ scopes }) => readScopes(scopes).includes("account"))) return;
        throw new ApiError("invalid_request", "The last key with the scope account cannot be deleted.");
      });
      return after(revoked, (isRevoked) => {
        if (!isRevoked) throw new ApiError("not_found", "The account has no such key that works.");
        keyRing.forget(accountId);
      });
    },
  };
}

/** Returns the moment, rounded down to the second that is announced. */
function readEnd(text: string, now: number): number {
  const at = Math.floor((momentOf(text) ?? Number.NaN) / 1_000) * 1_000;
  if (Number.isNaN(at) || at <= now) {
    throw new ApiError(
      "invalid_request",
      "expires_at must be a moment to come, such as 2027-01-31T00:00:00Z.",
    );
  }
  return at;
}

function keyView(record: KeyRecord): KeyView {
  const { keyId, name, hint, scopes, createdAt, lastUsedAt, expiresAt, rotatesAt, revokedAt } = record;
  const moment = (at: number | null): string | null => (at === null ? null : secondOf(at));
  return {
    key_id: keyId,
    name,
    hint,
    mode: modeOfKey(hint),
    scopes: readScopes(scopes),
    created_at: secondOf(createdAt),
    last_used_at: moment(lastUsedAt),
    expires_at: moment(expiresAt),
    rotates_at: moment(rotatesAt),
    revoked_at: moment(revokedAt),
  };
}
