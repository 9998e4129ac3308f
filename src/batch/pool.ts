import { Piscina } from "piscina";
import type { Clock } from "../clock.ts";
import type { JudgeOutcome, JudgeTask, SplitOutcome, SplitTask } from "./messages.ts";

/** What the worker threads can do: the named exports of the worker file. */
export type PoolTasks = {
  readonly split: { readonly task: SplitTask; readonly outcome: SplitOutcome };
  readonly judge: { readonly task: JudgeTask; readonly outcome: JudgeOutcome };
  /** Does nothing, in a thread: to see that one answers. */
  readonly ping: { readonly task: Record<string, never>; readonly outcome: string };
};

export type Pool = AsyncDisposable & {
  /**
   * Runs a task in a worker thread. A task that throws, ends its thread or passes the deadline is tried once
   * more in another thread; then PoolTaskError. PoolFullError where the queue is at its limit. The signal
   * ends the wait for a thread; a task that runs is left to end, as stopping it would cost the thread.
   */
  readonly run: <Name extends keyof PoolTasks>(
    name: Name,
    task: PoolTasks[Name]["task"],
    signal?: AbortSignal,
  ) => Promise<PoolTasks[Name]["outcome"]>;
  readonly stats: () => PoolStats;
};

export type PoolStats = {
  readonly threads: number;
  readonly running: number;
  readonly waiting: number;
  readonly finished: number;
  readonly retried: number;
  readonly failed: number;
  /** Time that tasks waited for a thread in all. */
  readonly waitMs: number;
  /** Time that tasks took in all. */
  readonly runMs: number;
};

export type PoolSettings = {
  /** The worker file: an address that `new Worker` takes. */
  readonly workerFile: string;
  readonly threads: number;
  /** Tasks that may wait for a thread. */
  readonly waitingMax: number;
  /** From hand-over to a thread until its result. */
  readonly taskTimeoutMs: number;
  readonly clock: Clock;
};

export class PoolFullError extends Error {
  override readonly name = "PoolFullError";
}

/** A task failed twice. */
export class PoolTaskError extends Error {
  override readonly name = "PoolTaskError";
}

/** A pool of worker threads with a bounded queue, a deadline for each task and one retry. */
export function createPool(settings: PoolSettings): Pool {
  const piscina = new Piscina({
    filename: settings.workerFile,
    minThreads: settings.threads,
    maxThreads: settings.threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: "async",
  });
  const slots = createSlots(settings.threads, settings.waitingMax);
  const totals = { finished: 0, retried: 0, failed: 0, waitMs: 0, runMs: 0 };

  async function attempt(name: string, task: unknown) {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), settings.taskTimeoutMs);
    try {
      return await piscina.run(task, { name, signal: deadline.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  async function attemptTwice(name: string, task: unknown) {
    try {
      return await attempt(name, task);
    } catch {
      totals.retried += 1;
    }
    try {
      return await attempt(name, task);
    } catch (cause) {
      totals.failed += 1;
      throw new PoolTaskError(`The task ${name} failed twice`, { cause });
    }
  }

  return {
    async run(name, task, signal) {
      const queuedMs = settings.clock.monotonic();
      await slots.take(signal);
      const startedMs = settings.clock.monotonic();
      totals.waitMs += startedMs - queuedMs;
      try {
        const outcome = await attemptTwice(name, task);
        totals.finished += 1;
        return outcome;
      } finally {
        totals.runMs += settings.clock.monotonic() - startedMs;
        slots.give();
      }
    },
    stats: () => ({
      threads: settings.threads,
      running: settings.threads - slots.free(),
      waiting: slots.waiting(),
      ...totals,
    }),
    [Symbol.asyncDispose]: () => piscina.destroy(),
  };
}

/** As many places as threads, and a first-come queue before them, so that a task's deadline starts when it runs. */
function createSlots(places: number, waitingMax: number) {
  let free = places;
  const queue = new Set<() => void>();
  return {
    free: () => free,
    waiting: () => queue.size,
    async take(signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return;
      }
      if (queue.size >= waitingMax) throw new PoolFullError("The pool's queue is at its limit");
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        };
        const leave = () => {
          queue.delete(enter);
          reject(signal?.reason);
        };
        queue.add(enter);
        signal?.addEventListener("abort", leave, { once: true });
      });
    },
    give(): void {
      const [next] = queue;
      if (next === undefined) {
        free += 1;
        return;
      }
      queue.delete(next);
      next();
    },
  };
}
