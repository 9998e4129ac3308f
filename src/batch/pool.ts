import type { Piscina } from "piscina";
import type { Clock } from "../platform/clock.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { createFairQueue, type Lease } from "./fair-queue.ts";
import type { ChunkingEvent, ChunkingOutcome, ChunkingTask, VerifiedChunk, VerifyTask } from "./messages.ts";
import { listen } from "./task-events.ts";
import type { RunAny, RunOptions, RunTask, TaskPool, TaskTypes } from "./task-pool.ts";
import { createReplacements } from "./thread-replacements.ts";
import type { Emitted } from "./thread-tasks.ts";

/** The tasks of a batch. */
export type PoolTasks = {
  /** Emits events through a port while it runs: see thread-tasks.ts. */
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
  /** Does nothing, to see that a thread responds. */
  readonly ping: {
    readonly task: Record<string, never>;
    readonly outcome: string;
    readonly event: never;
  };
};

/** Threads that do the tasks of batches. */
export type Pool = TaskPool<PoolTasks>;

export type PoolSettings = {
  /** The URL of the worker file. */
  readonly workerFile: string;
  readonly threads: number;
  /** Tasks that may wait for a thread. */
  readonly waitingMax: number;
  /** From the transfer to a thread until the result. */
  readonly taskTimeoutMs: number;
  /** A pool of low priority: its threads start with the first task, and every deadline is ten times as long. */
  readonly isBackground?: boolean;
  readonly clock: Clock;
};

/** A task failed. */
export class PoolTaskError extends Error {
  override readonly name = "PoolTaskError";
}

/** The threads start this long after the pool, as loading their code would delay the first calls on a small machine. */
const THREADS_START_MS = 250;
/** How long a task runs undisturbed while others wait; one of 4,000 items takes a tenth of it. */
const PATIENCE_MS = 500;
/** A thread of low priority gets a tenth of a core when others compete for it. */
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
  // piscina is loaded with the threads, as the first calls need none.
  const threads = loadedOnce(async () => {
    const [{ Piscina }, { transfer }] = await Promise.all([import("piscina"), import("./transfer.ts")]);
    if (isClosed) throw new Error("the pool is closed");
    const pool = new Piscina(threadOptions(settings));
    replacements.watch(pool);
    void warmUp(pool);
    return { pool, transfer };
  });
  /** Loads the code of each thread, so that it counts against no task's deadline. */
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
    lease: Lease,
    timeoutMs: number,
    { onEvent, emitsAtEnd = false }: RunOptions<never>,
  ) {
    const { pool, transfer } = await threads.get();
    // One controller for both reasons: each costs microseconds and outlives many collections, with its task.
    const ending = new AbortController();
    const { signal } = ending;
    const timer = setTimeout(() => ending.abort(new Error("the task passed its deadline")), timeoutMs);
    lease.onOverdue((reason) => ending.abort(reason));
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
      // A thread that ended counts as used until its replacement is ready: else the next task would wait for it.
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
    // Only the worker file knows the types of its tasks.
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
