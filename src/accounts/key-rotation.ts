import { secondOf } from "../billing/period.ts";
import type { Clock } from "../platform/clock.ts";
import type { Store } from "../store/open.ts";
import { hashApiKey, makeApiKey, type RandomBytes } from "./api-key.ts";
import type { KeyRing } from "./key-ring.ts";

export type RotatedKey = { readonly apiKey: string; readonly oldKeyExpiresAt: string };

/**
 * Gives the account a new key. All others end after the overlap, or earlier where an earlier end was set
 * before. `alongside` writes in the same transaction.
 */
export function rotateKey(
  dependencies: { store: Store; keyRing: KeyRing; clock: Clock; randomBytes: RandomBytes },
  accountId: string,
  overlapSeconds: number,
  alongside: (rotated: RotatedKey) => void,
): RotatedKey {
  const { store, keyRing, clock, randomBytes } = dependencies;
  const now = Math.floor(clock.now());
  // To the second, as it is announced, and never later than that.
  const endsAt = Math.floor(now / 1_000) * 1_000 + overlapSeconds * 1_000;
  const apiKey = makeApiKey(randomBytes);
  const keyHash = hashApiKey(apiKey);
  const rotated = { apiKey, oldKeyExpiresAt: secondOf(endsAt) };
  store.transact(() => {
    store.accounts.insertKey({ keyHash, accountId, createdAt: now, expiresAt: null });
    store.accounts.expireOtherKeys(accountId, keyHash, endsAt);
    alongside(rotated);
  });
  keyRing.forget(accountId);
  return rotated;
}
