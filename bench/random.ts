/** A seeded source of chance: the same seed gives the same corpus on every machine. */
export type Random = {
  /** From 0 up to but not including 1. */
  readonly next: () => number;
  /** A whole number from 0 up to but not including `end`. */
  readonly below: (end: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
};

/** The generator `mulberry32`: 32 bits of state, plenty for corpora. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    next,
    below,
    pick<T>(items: readonly T[]): T {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error("There is nothing to pick from");
      return item;
    },
  };
}
