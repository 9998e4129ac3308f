import type { Clock } from "../platform/clock.ts";
import { removeInSlices } from "../platform/slices.ts";
import type { KeyPort } from "../store/account-port.ts";

/** For how long a key that has ended is listed, and kept at most: replies that it may still ask for are kept for a day. */
export const ENDED_KEPT_MS = 30 * 86_400_000;
/** Keys of one transaction: a few milliseconds. */
const KEYS_AT_ONCE_MAX = 100;

/** Removes the keys that ended too long ago to be listed. `clock` must be trusted: what is removed is gone. */
export function removeEndedKeys(
  { store, clock }: { readonly store: Pick<KeyPort, "removeEndedKeys">; readonly clock: Pick<Clock, "now"> },
  signal: AbortSignal,
): Promise<void> {
  const endedUntil = Math.floor(clock.now()) - ENDED_KEPT_MS;
  return removeInSlices((limit) => store.removeEndedKeys(endedUntil, limit), KEYS_AT_ONCE_MAX, signal);
}
