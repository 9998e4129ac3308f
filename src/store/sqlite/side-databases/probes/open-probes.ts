import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../../../platform/clock.ts";
import type { Migration } from "../../../migration.ts";
import type { ProbeStore } from "../../../probe-port.ts";
import { asStorageError, withStorageErrors } from "../../connection/sqlite-error.ts";
import { openSideDatabase } from "../side-database.ts";
import initial from "./probe-migrations/0000_probes.sql" with { type: "text" };
import { createProbeStore } from "./probe-store.ts";

/** The steps of the prober's database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_probes", sql: initial }];

export type ProbeDatabase = Disposable & { readonly probes: ProbeStore };

/**
 * Opens `probes.db` of a data directory that this process holds; null opens one in memory. Evidence of the last moments
 * may be lost with the power, as no call waits for it. Throws a StoreOpenError.
 */
export function openProbes(dataDir: string | null, clock: Clock): ProbeDatabase {
  const database = openSideDatabase("probes.db", dataDir, clock, MIGRATIONS);
  database.run("PRAGMA synchronous = NORMAL");
  return {
    probes: withStorageErrors(createProbeStore(drizzle(database)), asStorageError),
    [Symbol.dispose]: () => database.close(true),
  };
}
