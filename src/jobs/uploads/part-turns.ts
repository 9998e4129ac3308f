/** Runs the work on one part in turn, and that on different parts at once. */
export type PartTurns = <T>(part: PartPlace, work: () => Promise<T>) => Promise<T>;

type PartPlace = { readonly jobId: string; readonly n: number };

export function createPartTurns(): PartTurns {
  /** Part → the end of the last turn that was asked for. */
  const ends = new Map<string, Promise<void>>();
  return async ({ jobId, n }, work) => {
    const place = `${jobId} ${n}`;
    const before = ends.get(place);
    const { promise: end, resolve } = Promise.withResolvers<void>();
    ends.set(place, end);
    await before;
    try {
      return await work();
    } finally {
      resolve();
      if (ends.get(place) === end) ends.delete(place);
    }
  };
}
