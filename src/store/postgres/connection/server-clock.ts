import { isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";

/** The server's clock in milliseconds: the one that all nodes share. */
export const SERVER_NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

/**
 * The same, and the same for all columns that a statement writes: an index finds rows by it, where the other is asked
 * anew for each row.
 */
export const STATEMENT_NOW = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`;

/**
 * What a process has not renewed for this time is free. Renewed every second, so that a thread that is busy
 * for a while loses nothing; a dead node's work goes on within ten seconds.
 */
const LEASE_MS = 7_000;

/** The end of a lease that begins now. */
export const LEASE_END = sql<number>`${SERVER_NOW} + ${LEASE_MS}::bigint`;

/** Whether a lease has ended. What was carried over from a store of one process has none. */
export function hasEnded(leaseUntil: AnyPgColumn): SQL | undefined {
  return or(isNull(leaseUntil), lt(leaseUntil, SERVER_NOW));
}
