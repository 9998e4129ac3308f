import type { Key } from "../wire/bodies.ts";

/**
 * Returns when the last key ends that may manage the account once one is revoked; null where another one has no end, or
 * where the one to be revoked is not what keeps the account open.
 */
export function lockedOutAt(keys: readonly Key[], revoked: Key, nowMs: number): string | null {
  if (!managesAccount(revoked)) return null;
  const others = keys.filter((key) => key.key_id !== revoked.key_id && managesAccount(key));
  const last = Math.max(...others.map(endOf).filter((end) => end > nowMs));
  return Number.isFinite(last) && last < endOf(revoked) ? new Date(last).toISOString() : null;
}

const endOf = ({ expires_at }: Key): number =>
  expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);

const managesAccount = ({ mode, scopes, revoked_at }: Key): boolean =>
  mode === "live" && revoked_at === null && scopes.includes("account");
