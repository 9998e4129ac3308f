import type { SQL } from "bun";
import { StorageError, StoreOpenError } from "../../storage-error.ts";
import { asOpenError } from "./postgres-error.ts";
import { abandon, createPrimaryFinder, openPool, type Servers } from "./servers.ts";

/** A server that does not answer by then is away: the start of nodes is to be tried again. */
export const ANSWER_DEADLINE_MS = 5_000;

/**
 * Any user may ask for it. A copy of a server has the system identifier of the original, so the time of its start says
 * which of them answers.
 */
const IDENTITY =
  "SELECT current_database() AS name, extract(epoch from pg_postmaster_start_time())::text AS started";

/**
 * Throws a StoreOpenError where DATABASE_URL, of the pooler, leads to another database than DATABASE_DIRECT_URL: tables
 * would be made, and changes announced, where no call is charged.
 */
export async function requireOneDatabase(direct: SQL, pooled: Servers): Promise<void> {
  let pool: SQL | undefined;
  try {
    const url = await createPrimaryFinder(pooled).find();
    pool = openPool({ url, isPooled: true, connectionsMax: 1, deadlineMs: ANSWER_DEADLINE_MS });
    // A server that is started again between two answers is another one by the first.
    const difference = (await differenceOf(direct, pool)) && (await differenceOf(direct, pool));
    if (difference === null) return;
    throw new StoreOpenError(
      `DATABASE_DIRECT_URL leads to another database than DATABASE_URL: ${difference}. Set it to the address of the same PostgreSQL and database without the pooler.`,
    );
  } catch (error) {
    throw asOpenError(error, "DATABASE_URL");
  } finally {
    if (pool !== undefined) abandon(pool);
  }
}

/** Returns what differs between the databases of two pools, or null. */
async function differenceOf(direct: SQL, pooled: SQL): Promise<string | null> {
  const ask = (pool: SQL) => withinMs(ANSWER_DEADLINE_MS, pool.unsafe(IDENTITY));
  const [[there], [here]] = await Promise.all([ask(direct), ask(pooled)]);
  if (there.name !== here.name) return `to ${there.name}, not ${here.name}`;
  return there.started === here.started ? null : `to ${there.name} of another server`;
}

/** The driver leaves the statements of a server that went away in silence pending for ever. */
export async function withinMs<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StorageError("it did not answer in time")), deadlineMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
