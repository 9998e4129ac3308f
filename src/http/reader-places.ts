import { createShares } from "../batch/shares.ts";
import { ApiError } from "../contract/errors.ts";

/** Counts a reader of a tenant until it is disposed of; throws `overloaded` over the tenant's share. */
export type EnterReader = (tenant: string) => Disposable;

/** Readers at a time: each that stops holds some 2 MB, in parts that are ready and in the connection. */
const READERS_MAX = 64;
const READERS_GUARANTEED = 4;
const READERS_OVERFLOW = 4;

/** Bounds the memory of long bodies that cost no units, for readers who take their time. */
export function createReaderPlaces(refusal: string): EnterReader {
  const places = createShares({
    capacity: READERS_MAX,
    guaranteed: READERS_GUARANTEED,
    guaranteedFirst: 1,
    overflow: READERS_OVERFLOW,
  });
  return (tenant) => {
    if (!places.acquire(tenant, 1)) throw new ApiError("overloaded", refusal);
    return { [Symbol.dispose]: () => places.release(tenant, 1) };
  };
}
