import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../platform/clock.ts";
import type { ProbeStore } from "../probe-port.ts";
import { asOpenError, openDatabaseFile, openMemoryDatabase } from "./database-file.ts";
import { type Migration, migrate } from "./migrations.ts";
import initial from "./probe-migrations/0000_probes.sql" with { type: "text" };
import { createProbeStore } from "./probe-store.ts";
import { asStorageError, withStorageErrors } from "./sqlite-error.ts";

/** The steps of the prober's database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_probes", sql: initial }];

export type ProbeDatabase = Disposable & { readonly probes: ProbeStore };

/**
 * Opens `probes.db` of a data directory that this process holds; null opens one in memory. Evidence of the last moments
 * may be lost with the power, as no call waits for it. Throws a StoreOpenError.
 */
export function openProbes(dataDir: string | null, clock: Clock): ProbeDatabase {
  const path = dataDir === null ? ":memory:" : join(dataDir, "probes.db");
  const database = dataDir === null ? openMemoryDatabase() : openDatabaseFile(path);
  try {
    migrate(database, clock, MIGRATIONS);
    database.run("PRAGMA synchronous = NORMAL");
  } catch (error) {
    database.close(true);
    throw asOpenError(path, error);
  }
  return {
    probes: withStorageErrors(createProbeStore(drizzle(database)), asStorageError),
    [Symbol.dispose]: () => database.close(true),
  };
}
