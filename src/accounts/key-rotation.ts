import { secondOf } from "../billing/period.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore, ReplyOf } from "../store/port.ts";
import { hashApiKey, makeApiKey, type RandomBytes } from "./api-key.ts";
import type { KeyRing } from "./key-ring.ts";

export type RotatedKey = { readonly apiKey: string; readonly oldKeyExpiresAt: string };

/**
 * Gives the account a new key. All others end after the overlap, or earlier where an earlier end was set
 * before. What `replyOf` returns is written in the same transaction.
 */
export function rotateKey(
  dependencies: {
    store: Pick<EmbeddedStore, "rotateKey">;
    keyRing: KeyRing;
    clock: Clock;
    randomBytes: RandomBytes;
  },
  accountId: string,
  overlapSeconds: number,
  replyOf: ReplyOf<RotatedKey>,
): RotatedKey {
  const { store, keyRing, clock, randomBytes } = dependencies;
  const now = Math.floor(clock.now());
  // To the second, as it is announced, and never later than that.
  const endsAt = Math.floor(now / 1_000) * 1_000 + overlapSeconds * 1_000;
  const apiKey = makeApiKey(randomBytes);
  const keyHash = hashApiKey(apiKey);
  const rotated = { apiKey, oldKeyExpiresAt: secondOf(endsAt) };
  store.rotateKey({ keyHash, accountId, createdAt: now, expiresAt: null }, endsAt, replyOf(rotated));
  keyRing.forget(accountId);
  return rotated;
}
