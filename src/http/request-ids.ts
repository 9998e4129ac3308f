import { type RandomBytes, randomBase62 } from "../accounts/api-key.ts";

const PREFIX_CHARS = 10;
const COUNTER_BITS = 30;
const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
/** Ten bits as two characters. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => BASE32.charAt(bits >> 5) + BASE32.charAt(bits & 31));

/**
 * Makes the names of calls: `req_`, ten random characters that hold for as long as the count does, and the count of
 * the call, scattered by secret numbers so that two names do not show how many there were between them. A random
 * number for each call would cost more than checking its key.
 */
export function createRequestIds(randomBytes: RandomBytes, counterBits = COUNTER_BITS): () => string {
  const begin = () => ({
    prefix: `req_${randomBase62(PREFIX_CHARS, randomBytes)}`,
    scatter: createScatter(randomBytes, counterBits),
  });
  let { prefix, scatter } = begin();
  let count = 0;
  return () => {
    if (count === 2 ** counterBits) {
      ({ prefix, scatter } = begin());
      count = 0;
    }
    const bits = scatter(count);
    count += 1;
    return `${prefix}${PAIRS[bits >>> 20]}${PAIRS[(bits >>> 10) & 1023]}${PAIRS[bits & 1023]}`;
  };
}

/** Permutes the numbers of `bits` bits. Every step can be undone, so no two results are equal. */
function createScatter(randomBytes: RandomBytes, bits: number): (count: number) => number {
  const mask = 2 ** bits - 1;
  const half = Math.ceil(bits / 2);
  const [start = 0, first = 0, second = 0] = new Uint32Array(Uint8Array.from(randomBytes(12)).buffer);
  return (count) => {
    // A product with an odd number keeps the lower bits to themselves, which the shift mixes into them.
    let mixed = Math.imul(count + start, first | 1) & mask;
    mixed = Math.imul(mixed ^ (mixed >>> half), second | 1) & mask;
    return mixed ^ (mixed >>> half);
  };
}
