import type { VerifiedChunk } from "./messages.ts";
import { createShares } from "./shares.ts";

/** The results of all batches that wait for their readers. */
export type HeldResults = {
  /** Whether a tenant holds more than its share while there is too much of all. */
  readonly isTight: (tenant: string) => boolean;
  /**
   * Yields what `verify` yields. A result counts as held from its end to the moment at which the next one is asked for,
   * or the reader leaves.
   */
  readonly untilRead: (
    tenant: string,
    verify: (hold: (result: VerifiedChunk) => void) => AsyncGenerator<VerifiedChunk, void, undefined>,
  ) => AsyncGenerator<VerifiedChunk, void, undefined>;
};

/**
 * Results that wait for their readers, of all batches. Past it, batches of tenants over their share go on a chunk at a
 * time: readers who stall or are slow hold about this much, however many they are.
 */
const RESULT_BYTES_MAX = 67_108_864;

export function createHeldResults(): HeldResults {
  const shares = createShares({ capacity: RESULT_BYTES_MAX, guaranteed: 0, overflow: 1 });
  return {
    isTight: (tenant) => shares.held() > RESULT_BYTES_MAX && shares.isOverShare(tenant),
    async *untilRead(tenant, verify) {
      let held = 0;
      let hasLeft = false;
      const hold = ({ bytes }: VerifiedChunk) => {
        if (hasLeft) return;
        held += bytes.byteLength;
        shares.hold(tenant, bytes.byteLength);
      };
      const release = (bytes: number) => {
        held -= bytes;
        shares.release(tenant, bytes);
      };
      try {
        for await (const result of verify(hold)) {
          const { byteLength } = result.bytes;
          yield result;
          release(byteLength);
        }
      } finally {
        hasLeft = true;
        release(held);
      }
    },
  };
}
