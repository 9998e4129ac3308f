import type { Share } from "./fair-queue.ts";

/** Tasks of a worker file, by the names of its exports. */
export type TaskTypes = {
  readonly [name: string]: { readonly task: object; readonly outcome: unknown; readonly event: unknown };
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

/** Threads that do the tasks of a worker file. */
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
export type RunAny = (name: string, task: object, options: RunOptions<never>) => Promise<unknown>;

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
