import type { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Clock } from "../../../platform/clock.ts";
import type { Migration } from "../../migration.ts";
import { asOpenError, openDatabaseFile, openMemoryDatabase } from "../data-dir/database-file.ts";
import { migrate } from "../migrations.ts";

/**
 * Opens a database beside the main one, by its file's name in a data directory that this process holds, and takes the
 * steps that it lacks; null opens one in memory. A write is on the disk when it returns. Throws a StoreOpenError.
 */
export function openSideDatabase(
  file: string,
  dataDir: string | null,
  clock: Clock,
  steps: readonly Migration[],
): Database {
  const path = dataDir === null ? ":memory:" : join(dataDir, file);
  const database = dataDir === null ? openMemoryDatabase() : openDatabaseFile(path);
  try {
    migrate(database, clock, steps);
  } catch (error) {
    database.close(true);
    throw asOpenError(path, error);
  }
  return database;
}

/**
 * Writes to a database beside the main one, and changes nothing. The head of the file is for the program's use, and unused:
 * a row could not be taken away again, a table for it would keep former versions from opening the file, and a row that
 * stays as it is is not written.
 */
export function probeSideDatabase(database: Pick<Database, "run">): void {
  database.run("PRAGMA user_version = 1");
}
