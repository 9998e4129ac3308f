import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Durability } from "../port.ts";
import { StorageError } from "../storage-error.ts";
import { createCommitSync } from "./commit-sync.ts";
import { createLogSync } from "./log-sync.ts";
import type { Orm } from "./orm.ts";
import { asStorageError } from "./sqlite-error.ts";

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
  readonly sync: () => Promise<void>;
  /** Throws a StorageError where the file that is open is not the one in the folder. */
  readonly assertFileInPlace: () => void;
  /** Returns the error as callers of the store see it, and counts those of the disk. */
  readonly counted: (error: unknown) => unknown;
  readonly errors: () => number;
  readonly close: () => void;
};

/** A database and the way of its commits to the disk. `path` is null for one in memory. */
export function createConnection(database: Database, path: string | null): Connection {
  const orm = drizzle(database);
  const fileNumber = path === null ? null : statSync(path).ino;
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const rollback = database.prepare("ROLLBACK");
  const commitSync = createCommitSync(database);
  const logSync = path === null ? null : createLogSync(path);
  let errors = 0;

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

  function run<T>(work: () => T): T {
    assertFileInPlace();
    try {
      begin.run();
      const result = work();
      if (result instanceof Promise) throw new Error("the work of a transaction must be synchronous");
      commit.run();
      return result;
    } catch (error) {
      if (database.inTransaction) rollback.run();
      throw counted(error);
    }
  }

  return {
    orm,
    transact: (work, durability = "at_once") => {
      if (database.inTransaction) throw new Error("a transaction cannot be part of another");
      if (durability === "at_once") return run(work);
      commitSync.normal();
      try {
        return run(work);
      } finally {
        commitSync.full();
      }
    },
    sync: async () => {
      try {
        await logSync?.sync();
      } catch (cause) {
        errors += 1;
        throw new StorageError("the database's log did not reach the disk", { cause });
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
