import { MessageChannel } from "node:worker_threads";
import { Piscina } from "piscina";
import type { Clock } from "../platform/clock.ts";
import type { JudgeOutcome, JudgeTask, SplitEvent, SplitOutcome, SplitTask } from "./messages.ts";
import { createSlots } from "./semaphore.ts";
import { handOver } from "./transfer.ts";

/** What the worker threads can do: the named exports of the worker file. */
export type PoolTasks = {
  /** Tells of its work by a port: see thread-tasks.ts. */
  readonly split: {
    readonly task: SplitTask;
    readonly outcome: SplitOutcome;
    readonly event: SplitEvent;
  };
  readonly judge: { readonly task: JudgeTask; readonly outcome: JudgeOutcome; readonly event: never };
  /** Does nothing, in a thread: to see that one answers. */
  readonly ping: {
    readonly task: Record<string, never>;
    readonly outcome: string;
    readonly event: never;
  };
};

export type RunOptions<Event> = {
  /** Ends the wait for a thread; a task that runs is left to end, as stopping it would cost the thread. */
  readonly signal?: AbortSignal;
  /** Hears all that the task tells before its outcome is returned; from the start again where it is tried once more. */
  readonly tell?: (event: Event) => void;
};

export type Pool = AsyncDisposable & {
  /**
   * Runs a task in a worker thread. A task that throws, ends its thread or passes the deadline is tried once
   * more in another thread; then PoolTaskError. PoolFullError where the queue is at its limit.
   */
  readonly run: <Name extends keyof PoolTasks>(
    name: Name,
    task: PoolTasks[Name]["task"],
    options?: RunOptions<PoolTasks[Name]["event"]>,
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

/** A task failed twice. */
export class PoolTaskError extends Error {
  override readonly name = "PoolTaskError";
}

/** Threads that read their code keep a small machine busy: so long those are answered first who call at the start. */
const THREADS_START_MS = 250;

/**
 * A pool of worker threads with a bounded queue, a deadline for each task and one retry. The threads start with the
 * first task, or a moment after the pool was made.
 */
export function createPool(settings: PoolSettings): Pool {
  let started: Piscina | undefined;
  let isClosed = false;
  const threads = (): Piscina => {
    if (isClosed) throw new Error("the pool is closed");
    started ??= startThreads(settings);
    return started;
  };
  const starting = setTimeout(threads, THREADS_START_MS).unref();
  const slots = createSlots(settings.threads, settings.waitingMax);
  const totals = { finished: 0, retried: 0, failed: 0, waitMs: 0, runMs: 0 };

  async function attempt(name: string, task: object, tell: ((event: never) => void) | undefined) {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), settings.taskTimeoutMs);
    const { signal } = deadline;
    try {
      if (tell === undefined) return await threads().run(task, { name, signal });
      using heard = hear(tell, signal);
      const { port } = heard;
      const outcome = await threads().run(handOver({ ...task, port }, port), { name, signal });
      await heard.all;
      return outcome;
    } finally {
      clearTimeout(timer);
    }
  }

  async function attemptTwice(name: string, task: object, tell: ((event: never) => void) | undefined) {
    try {
      return await attempt(name, task, tell);
    } catch {
      totals.retried += 1;
    }
    try {
      return await attempt(name, task, tell);
    } catch (cause) {
      totals.failed += 1;
      throw new PoolTaskError(`The task ${name} failed twice`, { cause });
    }
  }

  return {
    async run(name, task, { signal, tell } = {}) {
      const queuedMs = settings.clock.monotonic();
      await slots.take(signal);
      const startedMs = settings.clock.monotonic();
      totals.waitMs += startedMs - queuedMs;
      try {
        const outcome = await attemptTwice(name, task, tell);
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
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(starting);
      await started?.destroy();
    },
  };
}

function startThreads({ workerFile, threads }: PoolSettings): Piscina {
  return new Piscina({
    filename: workerFile,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: "async",
  });
}

/** A port for a task to tell by, and all that it told, which ends with a null. */
function hear<Event>(tell: (event: Event) => void, signal: AbortSignal) {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // It is waited for only where the task itself has ended well.
  promise.catch(() => undefined);
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  port1.on("message", (event: Event | null) => {
    if (event === null) resolve();
    else tell(event);
  });
  return { port: port2, all: promise, [Symbol.dispose]: () => port1.close() };
}
