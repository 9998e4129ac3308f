/** Counts distinct texts by a 64-bit hash of each: 8 bytes a text, twice that while the table grows. */
export type DistinctCount = { readonly add: (text: string) => void; readonly count: () => number };

const FIRST_SLOTS = 65_536;

export function createDistinctCount(): DistinctCount {
  let highs = new Uint32Array(FIRST_SLOTS);
  let lows = new Uint32Array(FIRST_SLOTS);
  let count = 0;

  /** Adds a hash; returns whether it is new. A slot with two zeros is free. */
  const put = (high: number, low: number): boolean => {
    const mask = highs.length - 1;
    for (let slot = (high ^ low) & mask; ; slot = (slot + 1) & mask) {
      const heldHigh = highs[slot] ?? 0;
      const heldLow = lows[slot] ?? 0;
      if (heldHigh === 0 && heldLow === 0) {
        highs[slot] = high;
        lows[slot] = low;
        return true;
      }
      if (heldHigh === high && heldLow === low) return false;
    }
  };
  const grow = () => {
    const [oldHighs, oldLows] = [highs, lows];
    highs = new Uint32Array(oldHighs.length * 2);
    lows = new Uint32Array(oldHighs.length * 2);
    for (const [slot, high] of oldHighs.entries()) {
      const low = oldLows[slot] ?? 0;
      if (high !== 0 || low !== 0) put(high, low);
    }
  };

  return {
    add(text) {
      let high = text.length;
      let low = 0x811c9dc5;
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        high = Math.imul(high ^ code, 0x9e3779b1);
        high ^= high >>> 15;
        low = Math.imul(low ^ code, 0x01000193);
      }
      low = Math.imul(low ^ (low >>> 16), 0x85ebca6b);
      if (put(high >>> 0, (low | 1) >>> 0)) count += 1;
      if (count * 2 > highs.length) grow();
    },
    count: () => count,
  };
}
