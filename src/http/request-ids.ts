import { type RandomBytes, randomBase62 } from "../accounts/api-key.ts";

const PREFIX_CHARS = 10;
const COUNTER_BITS = 30;
const COUNTER_MASK = 2 ** COUNTER_BITS - 1;
/** Odd, so that no two counts come to the same; so far apart that an id does not tell how many there were before. */
const STRIDE = 0x2545f491;
const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
/** Ten bits as two characters. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => BASE32.charAt(bits >> 5) + BASE32.charAt(bits & 31));

/**
 * Makes the names of calls: `req_`, 60 random bits that hold for as long as the count does, and the count of the
 * call, scattered. A random number for each call would cost more than checking its key.
 */
export function createRequestIds(randomBytes: RandomBytes): () => string {
  let count = 0;
  let prefix = "";
  return () => {
    if (count % 2 ** COUNTER_BITS === 0) prefix = `req_${randomBase62(PREFIX_CHARS, randomBytes)}`;
    count += 1;
    const bits = Math.imul(count, STRIDE) & COUNTER_MASK;
    return `${prefix}${PAIRS[bits >>> 20]}${PAIRS[(bits >>> 10) & 1023]}${PAIRS[bits & 1023]}`;
  };
}
