import type { Database } from "bun:sqlite";

/** Whether a commit waits until it is on the disk (FULL), or is brought there afterwards (NORMAL). */
export type CommitSync = {
  readonly full: () => void;
  readonly normal: () => void;
};

/** Begins in FULL. */
export function createCommitSync(database: Database): CommitSync {
  // SQLite obeys this pragma when it is compiled: a statement that is kept would not obey when it is run.
  const sync: CommitSync = {
    full: () => void database.run("PRAGMA synchronous = FULL"),
    normal: () => void database.run("PRAGMA synchronous = NORMAL"),
  };
  sync.full();
  return sync;
}
