import { closeSync, fdatasync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Brings SQLite's write-ahead log to the disk without stopping the thread that asks for it. */
export type LogSync = {
  /** Resolves once everything that was committed before the call would survive a power cut. */
  readonly sync: () => Promise<void>;
  readonly close: () => void;
};

/** Brings what was written to an open file to the disk, as `fdatasync` of node:fs does. */
export type SyncFile = (file: number, done: (error: Error | null) => void) => void;

/** Returns the sync of a database file's log, which is there once something was written. */
export function createLogSync(databasePath: string, syncFile: SyncFile = fdatasync): LogSync {
  let log: number | undefined;
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        log ??= openLog(databasePath);
        syncFile(log, (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => {
      if (log !== undefined) closeSync(log);
      log = undefined;
    },
  };
}

/** A file that was just made is on the disk only with the directory that names it. */
function openLog(databasePath: string): number {
  const log = openSync(`${databasePath}-wal`, "r");
  const directory = openSync(dirname(databasePath), "r");
  fsyncSync(directory);
  closeSync(directory);
  return log;
}
