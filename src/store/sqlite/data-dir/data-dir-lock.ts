import { Database, SQLiteError } from "bun:sqlite";
import { join } from "node:path";
import { DataDirInUseError, StoreOpenError } from "../../storage-error.ts";
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
    throw refusal(dataDir, path, error);
  }
  return {
    release: () => {
      database.run("ROLLBACK");
      database.close(true);
    },
  };
}

function refusal(dataDir: string, path: string, cause: unknown): StoreOpenError {
  if (cause instanceof SQLiteError && cause.code?.startsWith("SQLITE_BUSY")) {
    const message = `Another process is using the data directory ${dataDir}. Stop it, or set DATA_DIR to another directory.`;
    return new DataDirInUseError(message, { cause });
  }
  const message = `The lock file ${path} cannot be used (${String(cause)}). Remove it and start again.`;
  return new StoreOpenError(message, { cause });
}
