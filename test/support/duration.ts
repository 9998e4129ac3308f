/** The time of the quickest of up to five runs, in ms: what the work takes, not what the machine was busy with. */
export function quickestMs(work: () => void, enoughMs: number): number {
  let quickest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5 && quickest >= enoughMs; run++) {
    const start = performance.now();
    work();
    quickest = Math.min(quickest, performance.now() - start);
  }
  return quickest;
}

/** The same of work that waits. */
export async function quickestWaitMs(work: () => Promise<unknown>, enoughMs: number): Promise<number> {
  let quickest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5 && quickest >= enoughMs; run++) {
    const start = performance.now();
    await work();
    quickest = Math.min(quickest, performance.now() - start);
  }
  return quickest;
}
