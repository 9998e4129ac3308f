import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import type { Piscina } from "piscina";
import type { Clock } from "../platform/clock.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { createFairQueue, type Lease, type Share } from "./fair-queue.ts";
import type { ChunkingEvent, ChunkingOutcome, ChunkingTask, VerifiedChunk, VerifyTask } from "./messages.ts";
import type { Emitted } from "./thread-tasks.ts";

/** Tasks of a worker file, by the names of its exports. */
export type TaskTypes = {
  readonly [name: string]: { readonly task: object; readonly outcome: unknown; readonly event: unknown };
};

/** The tasks of a batch. */
export type PoolTasks = {
  /** Emits events by a port while it runs: see thread-tasks.ts. */
  readonly chunkBody: {
    readonly task: ChunkingTask;
    readonly outcome: ChunkingOutcome;
    readonly event: ChunkingEvent;
  };
  readonly verifyChunk: {
    readonly task: VerifyTask;
    readonly outcome: VerifiedChunk;
    readonly event: never;
  };
  /** Does nothing, in a thread: to see that one responds. */
  readonly ping: {
    readonly task: Record<string, never>;
    readonly outcome: string;
    readonly event: never;
  };
};

export type RunOptions<Event> = {
  /** Whose share of the threads' time the task takes. Tasks of one tenant run first come, first served. */
  readonly share: Share;
  /** Ends the wait for a thread; a task that runs is left to end, as stopping it would cost the thread. */
  readonly signal?: AbortSignal;
  /** Called with all that the task emits before its outcome is returned. */
  readonly onEvent?: (event: Event) => void;
  /** All events come at the end of a short task, for which a port of its own would cost more than it saves. */
  readonly emitsAtEnd?: boolean;
  /**
   * The task, or a part of it, has failed before: it runs on one thread of its tenant at a time, and is left alone
   * until its deadline.
   */
  readonly isRetry?: boolean;
  /** Instead of that of the pool's settings. */
  readonly timeoutMs?: number;
};

/** Threads that do the tasks of batches. */
export type Pool = TaskPool<PoolTasks>;

export type TaskPool<Tasks extends TaskTypes> = AsyncDisposable & {
  /**
   * Runs a task in a worker thread, once. Throws PoolTaskError where the task throws, ends its thread, passes its
   * deadline, or takes long while other tenants wait; QueueFullError where the tenant has too many tasks waiting.
   */
  readonly run: RunTask<Tasks>;
  /** Runs a task, and once more where it fails; `onEvent` then gets everything again from the start. */
  readonly runTwice: RunTask<Tasks>;
  readonly stats: () => PoolStats;
};

/** Runs one of the tasks: an overload for each, so that threads which can do more also do for those who ask for less. */
export type RunTask<Tasks extends TaskTypes> = UnionToIntersection<
  {
    [Name in keyof Tasks & string]: (
      name: Name,
      task: Tasks[Name]["task"],
      options: RunOptions<Tasks[Name]["event"]>,
    ) => Promise<Tasks[Name]["outcome"]>;
  }[keyof Tasks & string]
>;

/** Any task, by the name of an export. */
type RunAny = (name: string, task: object, options: RunOptions<never>) => Promise<unknown>;

type UnionToIntersection<Union> = (Union extends unknown ? (value: Union) => void : never) extends (
  value: infer Intersection,
) => void
  ? Intersection
  : never;

export type PoolStats = {
  readonly threads: number;
  readonly running: number;
  readonly waiting: number;
  readonly finished: number;
  /** Tasks that were run because they, or what they are a part of, had failed. */
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
  /** From the transfer to a thread until the result. */
  readonly taskTimeoutMs: number;
  /** Its threads yield to all others: they start with the first task, and every bound of time is ten times as long. */
  readonly isBackground?: boolean;
  readonly clock: Clock;
};

/** A task failed. */
export class PoolTaskError extends Error {
  override readonly name = "PoolTaskError";
}

/** Threads that read their code keep a small machine busy: calls at the start are answered first for this long. */
const THREADS_START_MS = 250;
/** A thread in the place of one that ended is waited for no longer than this. */
const THREAD_START_MS_MAX = 10_000;
/** A task of at most 4,000 items takes a tenth of it. */
const PATIENCE_MS = 500;
/** A thread that yields to others has a tenth of a core where they want it. */
const BACKGROUND_TIMES = 10;

/**
 * A pool of worker threads, shared fairly among tenants, with a bounded queue and a deadline for each task. The threads
 * start with the first task, or a moment after the pool was made.
 */
export function createPool<Tasks extends TaskTypes = PoolTasks>(settings: PoolSettings): TaskPool<Tasks> {
  const { clock, taskTimeoutMs, isBackground = false } = settings;
  const times = isBackground ? BACKGROUND_TIMES : 1;
  const replacements = createReplacements();
  let isClosed = false;
  const warm = Promise.withResolvers<void>();
  let isWarm = false;
  // What runs threads is read with them: calls at the start need none.
  const threads = loadedOnce(async () => {
    const [{ Piscina }, { transfer }] = await Promise.all([import("piscina"), import("./transfer.ts")]);
    if (isClosed) throw new Error("the pool is closed");
    const pool = new Piscina(threadOptions(settings));
    replacements.watch(pool);
    void warmUp(pool);
    return { pool, transfer };
  });
  /** Each thread reads its code, which counts against no task's deadline. */
  async function warmUp(pool: Piscina): Promise<void> {
    const pings = Array.from({ length: settings.threads }, () => pool.run({}, { name: "ping" }));
    await Promise.allSettled(pings);
    warm.resolve();
    isWarm = true;
  }

  const start = () => void Promise.resolve(threads.get()).catch(() => undefined);
  const starting = isBackground ? undefined : setTimeout(start, THREADS_START_MS).unref();
  const patienceMs = Math.min(PATIENCE_MS, taskTimeoutMs) * times;
  const queue = createFairQueue({ ...settings, patienceMs });
  const totals = { finished: 0, retried: 0, failed: 0, waitMs: 0, runMs: 0 };

  async function attempt(
    name: string,
    task: object,
    { overdue }: Lease,
    timeoutMs: number,
    { onEvent, emitsAtEnd = false }: RunOptions<never>,
  ) {
    const { pool, transfer } = await threads.get();
    // One controller for both reasons: a signal made by `AbortSignal.any` outlives many collections, with its task.
    const ending = new AbortController();
    const { signal } = ending;
    const timer = setTimeout(() => ending.abort(new Error("the task passed its deadline")), timeoutMs);
    const onOverdue = () => ending.abort(overdue.reason);
    overdue.addEventListener("abort", onOverdue, { once: true });
    try {
      if (onEvent === undefined) return await pool.run(task, { name, signal });
      using listened = emitsAtEnd ? null : listen(onEvent, signal);
      const port = listened?.port ?? null;
      const sent = { ...task, port };
      const { outcome, events }: Emitted<unknown, never> = await pool.run(
        port === null ? sent : transfer(sent, port),
        { name, signal },
      );
      for (const event of events) onEvent(event);
      await listened?.all;
      return outcome;
    } finally {
      clearTimeout(timer);
      overdue.removeEventListener("abort", onOverdue);
    }
  }

  const run: RunAny = async (name, task, options) => {
    const { share, signal, isRetry, timeoutMs = taskTimeoutMs } = options;
    const queuedMs = clock.monotonic();
    const lease = await queue.acquire(share, { signal, isRetry });
    const startedMs = clock.monotonic();
    totals.waitMs += startedMs - queuedMs;
    if (isRetry === true) totals.retried += 1;
    let replaced: Promise<void> | undefined;
    try {
      if (isClosed) throw new Error("the pool is closed");
      if (!isWarm) await Promise.all([threads.get(), warm.promise]);
      const outcome = await attempt(name, task, lease, timeoutMs * times, options);
      totals.finished += 1;
      return outcome;
    } catch (cause) {
      totals.failed += 1;
      queue.suspect(share.tenant);
      replaced = replacements.all();
      throw new PoolTaskError(`The task ${name} failed`, { cause });
    } finally {
      totals.runMs += clock.monotonic() - startedMs;
      // The thread that ended is in use until another is there in its place; else the next task would wait for it.
      if (replaced === undefined) lease.release();
      else void replaced.then(lease.release);
    }
  };

  const runTwice: RunAny = async (name, task, options) => {
    try {
      return await run(name, task, options);
    } catch (error) {
      if (!(error instanceof PoolTaskError)) throw error;
      return await run(name, task, { ...options, isRetry: true });
    }
  };

  return {
    // What a task takes and returns is known to the worker file alone.
    run: run as RunTask<Tasks>,
    runTwice: runTwice as RunTask<Tasks>,
    stats: () => ({
      threads: settings.threads,
      running: queue.running(),
      waiting: queue.waiting(),
      ...totals,
    }),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(starting);
      await threads.known()?.pool.destroy();
    },
  };
}

function threadOptions({ workerFile, threads }: PoolSettings) {
  return {
    filename: workerFile,
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    atomics: "async",
  } as const;
}

/** Knows whether threads that ended have others in their place, which are ready. */
function createReplacements() {
  let missing = 0;
  let waiting: (() => void)[] = [];
  return {
    watch(threads: Piscina): void {
      threads.on("workerDestroy", () => {
        missing += 1;
      });
      threads.on("workerCreate", () => {
        missing = Math.max(0, missing - 1);
        if (missing > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      });
    },
    async all(): Promise<void> {
      // A thread that is being ended counts from the next turn on.
      await nextTurn();
      if (missing === 0) return;
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, THREAD_START_MS_MAX);
      waiting.push(timeout.resolve);
      await timeout.promise;
      clearTimeout(timer);
    },
  };
}

/** A port for a task to emit its events by, and the end of them, which a null marks. */
function listen<Event>(onEvent: (event: Event) => void, signal: AbortSignal) {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // It is waited for only where the task itself has ended well.
  promise.catch(() => undefined);
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  port1.on("message", (event: Event | null) => {
    if (event === null) resolve();
    else onEvent(event);
  });
  return { port: port2, all: promise, [Symbol.dispose]: () => port1.close() };
}
