import type { VerifiedChunk } from "./messages.ts";
import { createShares } from "./shares.ts";

/** Counts the results of all batches that wait for their readers. */
export type HeldResults = {
  /** Whether a tenant holds more than its share while the limit is exceeded. */
  readonly isTight: (tenant: string) => boolean;
  /**
   * Yields the results of `verify`. A result counts as held from its completion until the next one is requested, or the
   * reader leaves.
   */
  readonly untilRead: (
    tenant: string,
    verify: (hold: (result: VerifiedChunk) => void) => AsyncGenerator<VerifiedChunk, void, undefined>,
  ) => AsyncGenerator<VerifiedChunk, void, undefined>;
};

/**
 * Bytes of results that wait for their readers, of all batches. Past it, batches of tenants over their share continue one
 * chunk at a time: slow readers hold about this much together, however many they are.
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
