import { join } from "node:path";
import { DataDirInUseError, StoreOpenError } from "../../storage-error.ts";
import { makePrivate } from "./database-file.ts";
import { type FileLock, lockFile } from "./file-lock.ts";

export type DataDirLock = FileLock;

/**
 * Takes a data directory for this process alone, by a lock on a file of its own: backups read the main database beside it
 * and do not need the lock.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const path = join(dataDir, "assay.lock");
  makePrivate(path);
  const lock = lockOrRefuse(path);
  if (lock !== null) return lock;
  throw new DataDirInUseError(
    `Another process is using the data directory ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
  );
}

function lockOrRefuse(path: string): FileLock | null {
  try {
    return lockFile(path);
  } catch (cause) {
    const message = `The lock file ${path} cannot be used (${String(cause)}). Remove it and start again.`;
    throw new StoreOpenError(message, { cause });
  }
}
