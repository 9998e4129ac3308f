import { createSemaphore } from "../platform/semaphore.ts";

/** Loads what waits on the disk one at a time, and bounds what is worked on together; first come, first served. */
export type BoundedLoads = <Loaded, Result>(
  load: () => Promise<Loaded>,
  bytesOf: (loaded: Loaded) => number,
  work: (loaded: Loaded) => Promise<Result>,
) => Promise<Result>;

/** What is smaller counts as much. */
const PLACE_BYTES = 65_536;

/** At most `bytesMax` are worked on, and one more load waits for its bytes. A larger one is worked on alone. */
export function createBoundedLoads(bytesMax: number): BoundedLoads {
  const placesMax = Math.floor(bytesMax / PLACE_BYTES);
  const places = createSemaphore(placesMax);
  const loading = createSemaphore(1);
  return async (load, bytesOf, work) => {
    using held = new DisposableStack();
    const next = await loading.acquire();
    let loaded: Parameters<typeof work>[0];
    try {
      loaded = await load();
      const wanted = Math.min(placesMax, Math.max(1, Math.ceil(bytesOf(loaded) / PLACE_BYTES)));
      for (let taken = 0; taken < wanted; taken += 1) held.defer(await places.acquire());
    } finally {
      next();
    }
    return await work(loaded);
  };
}
