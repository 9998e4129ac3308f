import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../platform/clock.ts";
import type { ScanStore } from "../scan-port.ts";
import { asOpenError, openDatabaseFile, openMemoryDatabase } from "./database-file.ts";
import { type Migration, migrate } from "./migrations.ts";
import initial from "./scan-migrations/0000_reports.sql" with { type: "text" };
import { createScanStore } from "./scan-store.ts";
import { asStorageError, withStorageErrors } from "./sqlite-error.ts";

/** The steps of the scans' database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_reports", sql: initial }];

export type ScanDatabase = Disposable & { readonly scans: ScanStore };

/**
 * Opens `scans.db` of a data directory that this process holds; null opens one in memory. A write is on the disk when
 * it returns. Throws a StoreOpenError.
 */
export function openScans(dataDir: string | null, clock: Clock): ScanDatabase {
  const path = dataDir === null ? ":memory:" : join(dataDir, "scans.db");
  const database = dataDir === null ? openMemoryDatabase() : openDatabaseFile(path);
  try {
    migrate(database, clock, MIGRATIONS);
  } catch (error) {
    database.close(true);
    throw asOpenError(path, error);
  }
  return {
    scans: withStorageErrors(createScanStore(drizzle(database)), asStorageError),
    [Symbol.dispose]: () => database.close(true),
  };
}
