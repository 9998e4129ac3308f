import type { Clock } from "../platform/clock.ts";

/** Holds calls back from a server that fails repeatedly, while there are others. */
export type CircuitBreaker = {
  /**
   * Returns whether a call may be tried now. Where it may, `succeed` or `fail` must follow, or `release`; where it may not,
   * `succeed` alone, of a call that was made all the same.
   */
  readonly tryEnter: () => boolean;
  readonly succeed: () => void;
  readonly fail: () => void;
  /** The call ended without showing the state of the server. */
  readonly release: () => void;
  readonly isOpen: () => boolean;
};

const FAILURES_MAX = 5;
const OPEN_MS_FIRST = 5000;
const OPEN_MS_MAX = 60_000;

/**
 * Creates a circuit breaker that opens after 5 consecutive failures, for 5 s. It then lets one call through, and opens for
 * twice as long if that fails, up to a minute.
 */
export function createCircuitBreaker(clock: Pick<Clock, "monotonic">): CircuitBreaker {
  let failures = 0;
  let openMs = OPEN_MS_FIRST;
  let closedFromMs = 0;
  let isProbing = false;
  const isOpen = () => failures >= FAILURES_MAX;
  return {
    isOpen,
    tryEnter() {
      if (!isOpen()) return true;
      if (isProbing || clock.monotonic() < closedFromMs) return false;
      isProbing = true;
      return true;
    },
    succeed() {
      failures = 0;
      openMs = OPEN_MS_FIRST;
      isProbing = false;
    },
    fail() {
      failures += 1;
      if (!isOpen()) return;
      if (isProbing) openMs = Math.min(openMs * 2, OPEN_MS_MAX);
      isProbing = false;
      closedFromMs = clock.monotonic() + openMs;
    },
    release() {
      isProbing = false;
    },
  };
}
