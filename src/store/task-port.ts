/** A call that is answered later. Times are milliseconds since the epoch. */
export type TaskRow = {
  readonly taskId: string;
  readonly state: "running" | "done" | "failed";
  /** The call, encrypted; null once it has ended. */
  readonly sealed: string | null;
  /** The answer or the refusal, encrypted; null before. */
  readonly answer: string | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  /** From then on it is as if it had never been. */
  readonly expiresAt: number;
};

/** The calls that are answered later. What is written is on the disk when a call returns. */
export type TaskStore = {
  /** Writes a running task, in place of one that has failed. One that runs or is done stays as it is. */
  readonly begin: (row: TaskRow & { readonly state: "running" }) => void;
  readonly find: (taskId: string) => TaskRow | undefined;
  readonly end: (
    taskId: string,
    end: {
      readonly state: "done" | "failed";
      readonly answer: string;
      readonly at: number;
      readonly expiresAt: number;
    },
  ) => void;
  /** Returns up to `limit` running tasks, oldest first. */
  readonly running: (limit: number) => readonly TaskRow[];
  /** Removes up to `limit` expired tasks; returns how many. */
  readonly removeExpired: (now: number, limit: number) => number;
};
