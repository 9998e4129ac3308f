/** Counts by name; holds an entry for each name with a count above 0. */
export type Tally = {
  readonly count: (name: string) => number;
  readonly add: (name: string, by: number) => void;
  /** Returns how many names have a count. */
  readonly size: () => number;
  readonly entries: () => Iterable<readonly [name: string, count: number]>;
};

export function createTally(): Tally {
  const counts = new Map<string, number>();
  return {
    count: (name) => counts.get(name) ?? 0,
    add(name, by) {
      const after = (counts.get(name) ?? 0) + by;
      if (after > 0) counts.set(name, after);
      else counts.delete(name);
    },
    size: () => counts.size,
    entries: () => counts,
  };
}
