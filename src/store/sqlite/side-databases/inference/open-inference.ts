import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../../../platform/clock.ts";
import type { Migration } from "../../../migration.ts";
import type { ReceiptStore } from "../../../receipt-port.ts";
import type { TaskStore } from "../../../task-port.ts";
import { asStorageError, withStorageErrors } from "../../connection/sqlite-error.ts";
import { openSideDatabase, probeSideDatabase } from "../side-database.ts";
import initial from "./inference-migrations/0000_inference.sql" with { type: "text" };
import { createReceiptStore } from "./receipt-store.ts";
import { createTaskStore } from "./task-store.ts";

/** The steps of the database of receipts and tasks, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_inference", sql: initial }];

export type InferenceDatabase = Disposable & {
  readonly receipts: ReceiptStore;
  readonly tasks: TaskStore;
  /** Writes to the disk, and changes nothing: throws where no receipt could be written. */
  readonly probe: () => void;
};

/**
 * Opens `inference.db` of a data directory that this process holds; null opens one in memory. A write is on the disk
 * when it returns. Throws a StoreOpenError.
 */
export function openInferenceDatabase(dataDir: string | null, clock: Clock): InferenceDatabase {
  const database = openSideDatabase("inference.db", dataDir, clock, MIGRATIONS);
  const orm = drizzle(database);
  return {
    receipts: withStorageErrors(createReceiptStore(orm), asStorageError),
    tasks: withStorageErrors(createTaskStore(orm), asStorageError),
    probe: () => probeSideDatabase(database),
    [Symbol.dispose]: () => database.close(true),
  };
}
