import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../platform/clock.ts";
import type { Migration } from "../migration.ts";
import type { ScanStore } from "../scan-port.ts";
import initial from "./scan-migrations/0000_reports.sql" with { type: "text" };
import { createScanStore } from "./scan-store.ts";
import { openSideDatabase } from "./side-database.ts";
import { asStorageError, withStorageErrors } from "./sqlite-error.ts";

/** The steps of the scans' database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_reports", sql: initial }];

export type ScanDatabase = Disposable & { readonly scans: ScanStore };

/**
 * Opens `scans.db` of a data directory that this process holds; null opens one in memory. A write is on the disk when
 * it returns. Throws a StoreOpenError.
 */
export function openScans(dataDir: string | null, clock: Clock): ScanDatabase {
  const database = openSideDatabase("scans.db", dataDir, clock, MIGRATIONS);
  return {
    scans: withStorageErrors(createScanStore(drizzle(database)), asStorageError),
    [Symbol.dispose]: () => database.close(true),
  };
}
