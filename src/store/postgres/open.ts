import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { SharedStore } from "../port.ts";
import { StorageError, StoreOpenError } from "../storage-error.ts";
import { createAccountCases } from "./account-cases.ts";
import { createAdmitCases } from "./admit-cases.ts";
import { createConnection, openPool } from "./connection.ts";
import { createInvoiceCases } from "./invoice-cases.ts";
import { migrate } from "./migrations.ts";
import { createOperatorCases } from "./operator-cases.ts";
import { asStorageError } from "./postgres-error.ts";
import { probes } from "./schema.ts";
import { createUsageCases } from "./usage-cases.ts";

export type SharedStoreOptions = {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  readonly clock: Clock;
  /** Of this process alone, never used again. */
  readonly processId?: string;
  readonly connectionsMax?: number;
  /** For each use case. */
  readonly deadlineMs?: number;
};

const CONNECTIONS_MAX = 10;
const DEADLINE_MS = 3_000;
const MIGRATE_DEADLINE_MS = 60_000;

/**
 * Opens the database of a cluster and brings it to the newest schema. Throws a StoreOpenError, whose message says to the
 * operator what to do, where that is not possible.
 */
export async function openSharedStore(options: SharedStoreOptions): Promise<SharedStore> {
  const { url, clock, connectionsMax = CONNECTIONS_MAX, deadlineMs = DEADLINE_MS } = options;
  await migrateOnce(url, clock);
  const connection = createConnection({ url, clock, connectionsMax, deadlineMs });
  let isOpen = true;
  return {
    ...createAccountCases(connection),
    ...createUsageCases(connection),
    ...createInvoiceCases(connection),
    ...createOperatorCases(connection),
    ...createAdmitCases(connection, options.processId ?? randomUUID()),
    // Each use case is settled for itself: a commit that is not answered rejects with an UnsettledError.
    requireSettled: () => undefined,
    probe: () =>
      connection.transact(async (orm) => {
        const at = Math.floor(clock.now());
        await orm
          .insert(probes)
          .values({ probeId: 1, at })
          .onConflictDoUpdate({ target: probes.probeId, set: { at: sql`${at}::bigint` } });
      }),
    // Rows that were removed leave room that the server keeps for new ones, and does not count.
    space: () =>
      connection.read(async (orm) => {
        const [row] = await orm.execute<{ bytes: string }>(
          sql`SELECT pg_database_size(current_database()) AS bytes`,
        );
        return { usedBytes: Number(row?.bytes ?? 0), freeBytes: 0 };
      }),
    isOpen: () => isOpen,
    stats: () => ({ errors: connection.errors() }),
    close: () => {
      isOpen = false;
      connection.close();
    },
  };
}

async function migrateOnce(url: string, clock: Clock): Promise<void> {
  const pool = openPool({ url, connectionsMax: 1, deadlineMs: MIGRATE_DEADLINE_MS });
  try {
    await migrate(pool, Math.floor(clock.now()));
  } catch (error) {
    if (error instanceof StoreOpenError) throw error;
    const known = asStorageError(error);
    if (!(known instanceof StorageError)) throw error;
    throw new StoreOpenError(`DATABASE_URL: the database cannot be used now (${known.message}).`, {
      cause: error,
    });
  } finally {
    await pool.close({ timeout: 0 }).catch(() => undefined);
  }
}
