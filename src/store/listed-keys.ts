import type { KeyRecord } from "./account-records.ts";

/** Keys that have ended and are listed beside those that work: a caller may end any number. */
export const ENDED_KEYS_MAX = 500;

/** For how long a rotation whose reply was lost can be repeated with the key that it ended. */
export const KEY_REPEAT_MS = 15 * 60_000;

/** Ended keys that are neither listed nor repeated with, and go with each key that is added: more than it adds. */
export const SURPLUS_AT_ONCE_MAX = 8;

/** Returns keys that work, and the last of those that have ended, oldest first. */
export function listedKeys(working: readonly KeyRecord[], ended: readonly KeyRecord[]): KeyRecord[] {
  const last = [...ended].sort((one, other) => endOf(other) - endOf(one)).slice(0, ENDED_KEYS_MAX);
  return [...working, ...last].sort(oldestFirst);
}

const endOf = ({ expiresAt, revokedAt }: KeyRecord): number => revokedAt ?? expiresAt ?? 0;

/** The order of keys; those of one moment go by their ids, as bytes. */
export function oldestFirst(one: KeyRecord, other: KeyRecord): number {
  return one.createdAt - other.createdAt || (one.keyId < other.keyId ? -1 : 1);
}
