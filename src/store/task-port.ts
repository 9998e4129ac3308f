/** A call that is answered later. Times are milliseconds since the epoch. */
export type TaskRow = {
  readonly taskId: string;
  readonly state: "running" | "done" | "failed";
  /** When it began to run. No two runs of a task have the same time. */
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** From then on it is as if it had never been. */
  readonly expiresAt: number;
};

/** The calls that are answered later. What is written is on the disk when a call returns. */
export type TaskStore = {
  /** Writes a running task and its call, encrypted, in place of one that has failed. One that runs or is done stays as it is. */
  readonly begin: (row: TaskRow & { readonly state: "running" }, call: string) => void;
  readonly find: (taskId: string) => TaskRow | undefined;
  /** Returns the call, encrypted; null once the task has ended. May be megabytes. */
  readonly callOf: (taskId: string) => string | null;
  /** Returns the length of the answer or the refusal, encrypted, without reading it; 0 before. */
  readonly answerLength: (taskId: string) => number;
  /** Returns the answer or the refusal, encrypted; null before. May be megabytes. */
  readonly answerOf: (taskId: string) => string | null;
  /** Ends a run; of no effect where it has ended, or another has begun. */
  readonly end: (
    run: Pick<TaskRow, "taskId" | "createdAt">,
    end: {
      readonly state: "done" | "failed";
      readonly answer: string;
      readonly at: number;
      readonly expiresAt: number;
    },
  ) => void;
  /** Returns all running tasks, oldest first. */
  readonly running: () => readonly TaskRow[];
  /** Removes up to `limit` expired tasks; returns how many. */
  readonly removeExpired: (now: number, limit: number) => number;
};
