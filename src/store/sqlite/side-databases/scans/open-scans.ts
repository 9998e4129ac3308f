import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../../../platform/clock.ts";
import type { Migration } from "../../../migration.ts";
import type { ScanStore } from "../../../scan-port.ts";
import { StorageError } from "../../../storage-error.ts";
import { createLogSync, type SyncFile } from "../../connection/log-sync.ts";
import { asStorageError, withStorageErrors } from "../../connection/sqlite-error.ts";
import { openSideDatabase, probeSideDatabase } from "../side-database.ts";
import initial from "./scan-migrations/0000_reports.sql" with { type: "text" };
import { createScanStore } from "./scan-store.ts";

/** The steps of the scans' database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_reports", sql: initial }];

export type ScanDatabase = Disposable & {
  readonly scans: ScanStore;
  /** Brings a write to the disk that changes nothing: rejects where no report could be written. */
  readonly probe: () => Promise<void>;
};

const FILE = "scans.db";

/**
 * Opens `scans.db` of a data directory that this process holds; null opens one in memory. Reports are large, and a write
 * would hold up everybody for as long as the disk takes: it is on the disk with the next `sync`. Throws a StoreOpenError.
 */
export function openScans(dataDir: string | null, clock: Clock, syncFile?: SyncFile): ScanDatabase {
  const database = openSideDatabase(FILE, dataDir, clock, MIGRATIONS);
  database.run("PRAGMA synchronous = NORMAL");
  const log = dataDir === null ? null : createLogSync(join(dataDir, FILE), syncFile);
  const sync = async (): Promise<void> => {
    try {
      await log?.sync();
    } catch (cause) {
      throw new StorageError("the log of the scans did not reach the disk", { cause });
    }
  };
  return {
    scans: { ...withStorageErrors(createScanStore(drizzle(database)), asStorageError), sync },
    async probe() {
      probeSideDatabase(database);
      await sync();
    },
    [Symbol.dispose]() {
      log?.close();
      database.close(true);
    },
  };
}
