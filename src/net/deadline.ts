import type { Clock } from "../platform/clock.ts";
import { createPatience } from "../platform/patience.ts";
import { type FailureReason, OutgoingError } from "./failure.ts";

/** The deadlines of one request: for each step, and in all. A missed one, or the caller's signal, aborts `signal`. */
export type Deadline = {
  /** The reason is an OutgoingError. */
  readonly signal: AbortSignal;
  /** Waits for a step. Throws OutgoingError where the step takes longer. */
  readonly within: <T>(step: Promise<T>, ms: number, reason: FailureReason, message: string) => Promise<T>;
  /** Like `within` for consecutive steps, with one timer for all. */
  readonly paced: (ms: number, reason: FailureReason, message: string) => <T>(step: Promise<T>) => Promise<T>;
  /** Ends the request: aborts the rest of it, and releases the timer and the caller's signal. */
  readonly end: () => void;
};

/** Starts the time of a request; `totalMs` may be infinite. */
export function createDeadline(totalMs: number, clock: Clock, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const end = clock.monotonic() + totalMs;
  const fail = (error: OutgoingError): void => controller.abort(error);
  const isLate = () => new OutgoingError("total_timeout", `not done within ${totalMs} ms`);
  const total = totalMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => fail(isLate()), totalMs);
  const abort = () => fail(new OutgoingError("aborted", "the request was given up"));
  if (caller?.aborted === true) abort();
  else caller?.addEventListener("abort", abort, { once: true });
  const { signal } = controller;
  return {
    signal,
    async within(step, ms, reason, message) {
      const { promise: stopped, reject } = Promise.withResolvers<never>();
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      const isTotal = end - clock.monotonic() <= ms;
      const timer = isTotal ? undefined : setTimeout(() => fail(new OutgoingError(reason, message)), ms);
      try {
        return await Promise.race([step, stopped]);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    },
    paced(ms, reason, message) {
      const patience = createPatience(ms, () => fail(new OutgoingError(reason, message)));
      let stopStep: (reason: unknown) => void = () => {};
      const stop = (): void => {
        patience.close();
        stopStep(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
      return (step) => {
        if (signal.aborted) return Promise.reject(signal.reason);
        patience.begin();
        return new Promise((resolve, reject) => {
          stopStep = reject;
          step.then((value) => {
            patience.end();
            resolve(value);
          }, reject);
        });
      };
    },
    end() {
      clearTimeout(total);
      caller?.removeEventListener("abort", abort);
      abort();
    },
  };
}
