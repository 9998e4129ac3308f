import { Database, SQLiteError } from "bun:sqlite";
import { join } from "node:path";
import { StoreOpenError } from "../storage-error.ts";
import { makePrivate } from "./database-file.ts";

export type DataDirLock = { readonly release: () => void };

/**
 * Takes a data directory for this process alone. The lock is an exclusive transaction on a small database of
 * its own, so the operating system drops it with the process, however that ends: none is ever left behind.
 * Backups read the main database beside it and do not need the lock.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const path = join(dataDir, "assay.lock");
  makePrivate(path);
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close(true);
    throw new StoreOpenError(refusal(dataDir, path, error), { cause: error });
  }
  return {
    release: () => {
      database.run("ROLLBACK");
      database.close(true);
    },
  };
}

function refusal(dataDir: string, path: string, error: unknown): string {
  if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")) {
    return `Another process is using the data directory ${dataDir}. Stop it, or set DATA_DIR to another directory.`;
  }
  return `The lock file ${path} cannot be used (${String(error)}). Remove it and start again.`;
}
