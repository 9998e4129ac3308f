import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../platform/clock.ts";
import { createAccountStore } from "./account-store.ts";
import { createClockStore } from "./clock-store.ts";
import { createCommitSync } from "./commit-sync.ts";
import { lockDataDir } from "./data-dir-lock.ts";
import {
  asOpenError,
  databasePath,
  openDatabaseFile,
  openMemoryDatabase,
  prepareDataDir,
} from "./database-file.ts";
import { createInvoiceStore } from "./invoice-store.ts";
import { createLogSync } from "./log-sync.ts";
import { migrate } from "./migrations.ts";
import { createOperatorStore } from "./operator-store.ts";
import { createPlanPeriodStore } from "./plan-period-store.ts";
import { createReplyStore } from "./reply-store.ts";
import { probes } from "./schema.ts";
import { asStorageError, StorageError, withStorageErrors } from "./storage-error.ts";
import { createUsageStore } from "./usage-store.ts";

export type Store = ReturnType<typeof createStore>;

type StoreOptions =
  | { readonly dataDir: string; readonly clock: Clock }
  | { readonly path: ":memory:"; readonly clock: Clock };

/**
 * Opens the database of a data directory and takes the directory for this process alone. Throws a
 * StoreOpenError, whose message tells the operator what to do, where that is not possible.
 */
export function openStore(options: StoreOptions): Store {
  const { clock } = options;
  if ("path" in options) {
    const database = openMemoryDatabase();
    migrate(database, clock);
    return createStore({ database, clock, path: null, unlock: () => {} });
  }
  const path = databasePath(options.dataDir);
  prepareDataDir(options.dataDir);
  const lock = lockDataDir(options.dataDir);
  let database: Database | undefined;
  try {
    database = openDatabaseFile(path);
    migrate(database, clock);
    return createStore({ database, clock, path, unlock: lock.release });
  } catch (error) {
    database?.close(true);
    lock.release();
    throw asOpenError(path, error);
  }
}

function createStore(parts: { database: Database; clock: Clock; path: string | null; unlock: () => void }) {
  const { database, clock, path, unlock } = parts;
  const orm = drizzle(database);
  const fileNumber = path === null ? null : statSync(path).ino;
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");
  const commitSync = createCommitSync(database);
  const logSync = path === null ? null : createLogSync(path);
  let isOpen = true;
  let errors = 0;

  /** The error as callers of the store see it; those of the disk are counted. */
  function counted(error: unknown): unknown {
    const seen = asStorageError(error);
    if (seen !== error) errors += 1;
    return seen;
  }

  /**
   * Runs work as one transaction, or as part of the one that is running. The work must be synchronous: a
   * promise would be committed before it has done anything, so it is refused and rolled back.
   */
  function transact<T>(work: () => T extends PromiseLike<unknown> ? never : T): T {
    if (database.inTransaction) return work();
    assertFileInPlace();
    try {
      begin.run();
      const result: T = work();
      if (result instanceof Promise) throw new Error("the work of a transaction must be synchronous");
      commit.run();
      return result;
    } catch (error) {
      if (database.inTransaction) rollback.run();
      throw counted(error);
    }
  }

  /**
   * As `transact`, but the commit does not wait for the disk: until `sync` has resolved, a power cut may undo it.
   * It cannot be part of another transaction.
   */
  function transactUnsynced<T>(work: () => T extends PromiseLike<unknown> ? never : T): T {
    if (database.inTransaction) throw new Error("a commit inside a transaction cannot go unsynced");
    commitSync.normal();
    try {
      return transact(work);
    } finally {
      commitSync.full();
    }
  }

  /** Resolves once all that was committed is on the disk. The thread goes on meanwhile. */
  async function sync(): Promise<void> {
    try {
      await logSync?.sync();
    } catch (cause) {
      errors += 1;
      throw new StorageError("the database's log did not reach the disk", { cause });
    }
  }

  function assertFileInPlace(): void {
    if (path === null) return;
    if (statSync(path, { throwIfNoEntry: false })?.ino !== fileNumber) {
      errors += 1;
      throw new StorageError(`the database file ${path} was moved or removed while it was in use`);
    }
  }

  return {
    accounts: withStorageErrors(createAccountStore(orm), counted),
    planPeriods: withStorageErrors(createPlanPeriodStore(orm), counted),
    usage: withStorageErrors(createUsageStore(orm), counted),
    invoices: withStorageErrors(createInvoiceStore(orm), counted),
    clock: withStorageErrors(createClockStore(orm), counted),
    operators: withStorageErrors(createOperatorStore(orm), counted),
    replies: withStorageErrors(createReplyStore(orm), counted),
    transact,
    transactUnsynced,
    sync,
    isInTransaction: (): boolean => database.inTransaction,
    isOpen: (): boolean => isOpen,
    stats: (): { readonly errors: number } => ({ errors }),
    ...withStorageErrors(
      {
        /** Writes and commits one row. Throws a StorageError where calls could not be charged now. */
        probe: (): void => {
          assertFileInPlace();
          const row = { probeId: 1, at: clock.now() };
          orm
            .insert(probes)
            .values(row)
            .onConflictDoUpdate({ target: probes.probeId, set: { at: row.at } })
            .run();
        },

        /** Moves the log into the database file and empties it: for idle time and the end. */
        checkpoint: (): void => {
          database.run("PRAGMA wal_checkpoint(TRUNCATE)");
        },
      },
      counted,
    ),

    /** Frees the data directory. Closing twice is closing once. */
    close: (): void => {
      if (!isOpen) return;
      isOpen = false;
      logSync?.close();
      database.close(true);
      unlock();
    },
  };
}
