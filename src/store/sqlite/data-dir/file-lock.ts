import { Database, SQLiteError } from "bun:sqlite";

export type FileLock = { readonly release: () => void };

/**
 * Locks a file for this process alone; null where another one has it. The lock is a write transaction on an empty
 * database, so the operating system drops it with the process, however that ends: none is ever left behind. The file is
 * made where it is missing. Throws where it cannot be opened, or its file system has no locks.
 */
export function lockFile(path: string): FileLock | null {
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // A journal on the disk would be one more file, and nothing is ever written.
    database.run("PRAGMA journal_mode = MEMORY");
    // Of two at once one gets it. By EXCLUSIVE each may refuse the other.
    database.run("BEGIN IMMEDIATE");
  } catch (error) {
    database.close(true);
    if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")) return null;
    throw error;
  }
  return {
    release: () => {
      database.run("ROLLBACK");
      database.close(true);
    },
  };
}
