import type { Clock } from "../platform/clock.ts";

export const ANSWER_VALID_MS = 1000;

/** Makes an answer at most once a second. Calls made while one is fresh, or being made, share it. */
export function oncePerSecond<T>(clock: Pick<Clock, "monotonic">, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  let madeMs = 0;
  return () => {
    if (made === undefined || clock.monotonic() - madeMs >= ANSWER_VALID_MS) {
      made = make();
      madeMs = clock.monotonic();
    }
    return made;
  };
}
