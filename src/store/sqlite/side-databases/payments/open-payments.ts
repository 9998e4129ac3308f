import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Clock } from "../../../../platform/clock.ts";
import type { Migration } from "../../../migration.ts";
import type { PaymentStore } from "../../../payment-port.ts";
import { asStorageError, withStorageErrors } from "../../connection/sqlite-error.ts";
import { openSideDatabase } from "../side-database.ts";
import initial from "./payment-migrations/0000_payments.sql" with { type: "text" };
import { createPaymentStore } from "./payment-store.ts";

/** The steps of the payments' database, oldest first. */
const MIGRATIONS: readonly Migration[] = [{ name: "0000_payments", sql: initial }];

export type PaymentDatabase = Disposable & { readonly payments: PaymentStore };

/**
 * Opens `payments.db` of a data directory that this process holds; null opens one in memory. A write is on the disk
 * when it returns. Throws a StoreOpenError.
 */
export function openPayments(dataDir: string | null, clock: Clock): PaymentDatabase {
  const database = openSideDatabase("payments.db", dataDir, clock, MIGRATIONS);
  return {
    payments: withStorageErrors(createPaymentStore(drizzle(database)), asStorageError),
    [Symbol.dispose]: () => database.close(true),
  };
}
