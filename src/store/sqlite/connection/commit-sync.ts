import type { Database } from "bun:sqlite";

/** Whether a commit waits until it is on the disk (FULL), or is brought there afterwards (NORMAL). */
export type CommitSync = {
  readonly full: () => void;
  readonly normal: () => void;
};

/** Begins in FULL. The statement costs as much as a row, so it is run only where the setting changes. */
export function createCommitSync(database: Database): CommitSync {
  let isFull = false;

  // SQLite obeys this pragma when it is compiled: a statement that is kept would not obey when it is run.
  const sync: CommitSync = {
    full: () => {
      if (isFull) return;
      database.run("PRAGMA synchronous = FULL");
      isFull = true;
    },
    normal: () => {
      if (!isFull) return;
      isFull = false;
      database.run("PRAGMA synchronous = NORMAL");
    },
  };
  sync.full();
  return sync;
}
