import type { SyncOutcome } from "./syncer.ts";

export type ScheduleDependencies = {
  readonly sync: () => Promise<SyncOutcome>;
  readonly intervalMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

const BACKOFF_BASE_MS = 1000;
const BACKOFF_MS_MAX = 900_000;
/** The longest wait after failures, in intervals, so that recovery shows within a few of them. */
const BACKOFF_INTERVALS_MAX = 5;
const BACKOFF_MS_MIN = 100;

/** Syncs repeatedly, one sync at a time, until stopped. */
export function createSchedule(dependencies: ScheduleDependencies) {
  const controller = new AbortController();
  const run = async (firstDelayMs: number): Promise<void> => {
    let failures = 0;
    let delayMs = firstDelayMs;
    while (!controller.signal.aborted) {
      await dependencies.wait(delayMs, controller.signal);
      if (controller.signal.aborted) return;
      const outcome = await dependencies.sync();
      failures = outcome.kind === "failed" ? failures + 1 : 0;
      delayMs = nextDelayMs(outcome, failures, dependencies);
    }
  };
  return {
    start: ({ atOnce }: { readonly atOnce: boolean }): void => {
      void run(atOnce ? 0 : jittered(dependencies.intervalMs, dependencies.random));
    },
    stop: (): void => controller.abort(),
  };
}

/**
 * Returns the interval with 20 % of jitter; after failures an exponential back-off with full jitter, or the
 * upstream's Retry-After where that is longer.
 */
export function nextDelayMs(
  outcome: SyncOutcome,
  failures: number,
  { intervalMs, random }: Pick<ScheduleDependencies, "intervalMs" | "random">,
): number {
  if (outcome.kind !== "failed") return jittered(intervalMs, random);
  const bound = Math.min(
    Math.min(BACKOFF_BASE_MS, intervalMs) * 2 ** Math.min(failures, 30),
    intervalMs * BACKOFF_INTERVALS_MAX,
    BACKOFF_MS_MAX,
  );
  return Math.max(outcome.retryAfterMs ?? 0, BACKOFF_MS_MIN, random() * bound);
}

function jittered(intervalMs: number, random: () => number): number {
  return intervalMs * (0.8 + 0.4 * random());
}
