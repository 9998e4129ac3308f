import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../../platform/clock.ts";
import type { Durability } from "../../billing-port.ts";
import { StorageError, UnsettledError } from "../../storage-error.ts";
import { createCommitSync } from "./commit-sync.ts";
import { isLogWhole } from "./log-check.ts";
import { createLogSync, type SyncFile } from "./log-sync.ts";
import type { Orm } from "./orm.ts";
import { asStorageError, isSyncFailure } from "./sqlite-error.ts";

/** Runs work as one transaction. */
export type Transact = <T>(
  work: () => T extends PromiseLike<unknown> ? never : T,
  durability?: Durability,
) => T;

export type Connection = {
  readonly orm: Orm;
  /**
   * Runs work as one transaction, by default on the disk when it returns. The work must be synchronous: a promise
   * would be committed before it has done anything, so it is refused and rolled back, as is one transaction inside
   * another.
   */
  readonly transact: Transact;
  /** Lets statements outside a transaction wait for the disk: the setting of the transaction before outlasts it. */
  readonly waitForDisk: () => void;
  /** Throws an UnsettledError where a commit is neither on the disk nor undone; until it is, none succeeds. */
  readonly sync: () => Promise<void>;
  /** Throws a StorageError while a failed sync of the log is not made good: nothing may be acknowledged then. */
  readonly requireSettled: () => void;
  /**
   * Moves the log into the database file and empties it, so that neither holds what was deleted. False where another
   * process reads the log, as a backup does.
   */
  readonly emptyLog: () => boolean;
  /** Throws a StorageError where the file that is open is not the one in the folder. */
  readonly assertFileInPlace: () => void;
  /** Returns the error as callers of the store see it, and counts those of the disk. */
  readonly counted: (error: unknown) => unknown;
  readonly errors: () => number;
  readonly close: () => void;
};

/** How often a log that did not reach the disk is tried again. */
const SETTLE_EVERY_MS = 250;

export type ConnectionOptions = {
  /** Null for a database in memory. */
  readonly path: string | null;
  readonly clock: Clock;
  readonly syncFile?: SyncFile | undefined;
};

/** A database and the way of its commits to the disk. */
export function createConnection(
  database: Database,
  { path, clock, syncFile }: ConnectionOptions,
): Connection {
  const orm = drizzle(database);
  const fileNumber = path === null ? null : statSync(path).ino;
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");
  const commitSync = createCommitSync(database);
  const logSync = path === null ? null : createLogSync(path, syncFile);
  let errors = 0;
  /** True from a failed sync of the log until all of it is in the database file and synced there. */
  let isUnsettled = false;
  let settleTriedAtMs = Number.NEGATIVE_INFINITY;

  function counted(error: unknown): unknown {
    const seen = asStorageError(error);
    if (seen !== error) errors += 1;
    return seen;
  }

  function assertFileInPlace(): void {
    if (path === null) return;
    if (statSync(path, { throwIfNoEntry: false })?.ino !== fileNumber) {
      errors += 1;
      throw new StorageError(`the database file ${path} was moved or removed while it was in use`);
    }
  }

  /**
   * Makes what a failed sync left open certain: checks the log, moves all of it into the database file, which is
   * written and synced anew, and empties it. A later sync of the same log that succeeds would prove nothing, as the
   * system may have dropped the pages with the first failure. Throws a StorageError where it cannot be done.
   */
  function settle(): void {
    if (!isUnsettled || path === null) return;
    settleTriedAtMs = clock.monotonic();
    try {
      if (!isLogWhole(path)) throw new StorageError("the log of the database lost pages; restart the server");
      if (!truncateLog()) {
        throw new StorageError("a reader keeps the log of the database from being emptied");
      }
      isUnsettled = false;
    } catch (error) {
      throw counted(error);
    }
  }

  /** Waits for no reader: this is the main thread. */
  function truncateLog(): boolean {
    type Checkpoint = { readonly busy: number };
    database.run("PRAGMA busy_timeout = 0");
    try {
      return database.query<Checkpoint, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
    } finally {
      database.run("PRAGMA busy_timeout = 2000");
    }
  }

  function throwUnlessSettled(cause: unknown): void {
    isUnsettled = true;
    try {
      settle();
    } catch {
      throw new UnsettledError("the database's log did not reach the disk", { cause });
    }
  }

  function requireSettled(): void {
    if (!isUnsettled) return;
    if (clock.monotonic() - settleTriedAtMs < SETTLE_EVERY_MS) {
      throw new StorageError("the database's log did not reach the disk");
    }
    settle();
  }

  function run<T>(work: () => T): T {
    assertFileInPlace();
    requireSettled();
    try {
      begin.run();
      const result = work();
      if (result instanceof Promise) throw new Error("the work of a transaction must be synchronous");
      commit.run();
      return result;
    } catch (error) {
      if (database.inTransaction) rollback.run();
      // Its pages may be in the log, and come back after a crash, until the log was emptied.
      if (isSyncFailure(error)) throwUnlessSettled(error);
      throw counted(error);
    }
  }

  return {
    orm,
    transact: (work, durability = "at_once") => {
      if (database.inTransaction) throw new Error("a transaction cannot be part of another");
      if (durability === "at_once") commitSync.full();
      else commitSync.normal();
      return run(work);
    },
    waitForDisk: commitSync.full,
    sync: async () => {
      // What was committed while an earlier sync failed is as uncertain: that another succeeds proves nothing.
      if (isUnsettled) return throwUnlessSettled(undefined);
      try {
        await logSync?.sync();
      } catch (cause) {
        errors += 1;
        throwUnlessSettled(cause);
      }
    },
    requireSettled,
    emptyLog: () => {
      if (path === null) return true;
      requireSettled();
      try {
        return truncateLog();
      } catch (error) {
        // The log is synced before it is moved.
        if (isSyncFailure(error)) throwUnlessSettled(error);
        throw counted(error);
      }
    },
    assertFileInPlace,
    counted,
    errors: () => errors,
    close: () => {
      logSync?.close();
      database.close(true);
    },
  };
}
