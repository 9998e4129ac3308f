import { setTimeout as elapsed } from "node:timers/promises";
import type { SQL, TransactionSQL } from "bun";
import {
  type AppliedMigration,
  checksumOf,
  type Migration,
  missingMigrations,
  statementsOf,
} from "../migration.ts";
import { StoreOpenError } from "../storage-error.ts";
import { isHeld, isTimeOrOrder } from "./connection/postgres-error.ts";
import initial from "./migrations/0000_initial.sql" with { type: "text" };
import unchanging from "./migrations/0001_unchanging.sql" with { type: "text" };
import jobs from "./migrations/0002_jobs.sql" with { type: "text" };
import directory from "./migrations/0003_directory.sql" with { type: "text" };
import untruncated from "./migrations/0004_untruncated.sql" with { type: "text" };
import plainGroups from "./migrations/0005_plain_groups.sql" with { type: "text" };
import atOnce from "./migrations/0006_at_once.sql" with { type: "text" };
import fewAccounts from "./migrations/0007_few_accounts.sql" with { type: "text" };
import signingKeys from "./migrations/0008_signing_keys.sql" with { type: "text" };
import listsAndAttempts from "./migrations/0009_lists_and_attempts.sql" with { type: "text" };
import planPeriods from "./migrations/0010_plan_periods.sql" with { type: "text" };
import indexedLooks from "./migrations/0011_indexed_looks.sql" with { type: "text" };

/** All steps, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_unchanging", sql: unchanging },
  { name: "0002_jobs", sql: jobs },
  { name: "0003_directory", sql: directory },
  { name: "0004_untruncated", sql: untruncated },
  { name: "0005_plain_groups", sql: plainGroups },
  { name: "0006_at_once", sql: atOnce },
  { name: "0007_few_accounts", sql: fewAccounts },
  { name: "0008_signing_keys", sql: signingKeys },
  { name: "0009_lists_and_attempts", sql: listsAndAttempts },
  { name: "0010_plan_periods", sql: planPeriods },
  { name: "0011_indexed_looks", sql: indexedLooks },
];

/** Held by the one node that migrates; any number that nothing else in the database locks. */
const LOCK = 4_270_117_001;

/**
 * While a step waits for a table, all that others want of it waits behind. So it waits briefly, lets them pass, and
 * waits longer later on: at last for more than the second after which PostgreSQL's own cleaning gives way.
 */
const LOCK_WAIT_MIN_MS = 100;
const LOCK_WAIT_MAX_MS = 1_100;
/** Tries after which the wait doubles. */
const LOCK_TRIES_EACH = 4;
const LOCK_TRIES_MAX = 25;
const LET_PASS_MS = 1_000;

/**
 * Brings a database to the newest schema, forwards only, in one transaction, while other nodes that start wait.
 * Refuses a database that a newer version has written, and one whose steps are not the ones known here. `at` is the
 * time in milliseconds since the epoch that is written beside the steps. What the server undoes for the time that this
 * process was held up is done again. Rejects with a StoreOpenError where another session keeps a table for the better
 * part of a minute.
 */
export async function migrate(
  sql: SQL,
  at: number,
  migrations: readonly Migration[] = MIGRATIONS,
  triesMax = LOCK_TRIES_MAX,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const waitMs = Math.min(LOCK_WAIT_MAX_MS, LOCK_WAIT_MIN_MS * 2 ** Math.floor(tries / LOCK_TRIES_EACH));
    try {
      await sql.begin((transaction) => migrateWithin(waitMs, transaction, at, migrations));
      return;
    } catch (error) {
      if (!isHeld(error) && !isTimeOrOrder(error)) throw error;
      if (tries + 1 >= triesMax) throw isHeld(error) ? tableHeld(error) : error;
      await elapsed(LET_PASS_MS);
    }
  }
}

async function migrateWithin(
  waitMs: number,
  sql: TransactionSQL,
  at: number,
  migrations: readonly Migration[],
): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
  await sql.unsafe(
    "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at bigint NOT NULL)",
  );
  const applied: readonly AppliedMigration[] = await sql`SELECT name, checksum FROM migrations ORDER BY name`;
  const missing = missingMigrations(applied, migrations);
  if (missing.length === 0) return;
  const [begun] = await sql`SELECT extract(epoch from clock_timestamp())::float8 AS seconds`;
  // What the first statements hold is held while a later one waits: all together wait hardly longer.
  const limitWait = () => sql`
    SELECT set_config('lock_timeout', round(greatest(${LOCK_WAIT_MIN_MS}::float8,
      ${waitMs}::float8 - 1000 * (extract(epoch from clock_timestamp())::float8 - ${begun.seconds}::float8)))::text, true)`;
  for (const migration of missing) await apply(sql, migration, at, limitWait);
}

async function apply(
  sql: TransactionSQL,
  migration: Migration,
  at: number,
  limitWait: () => Promise<unknown>,
): Promise<void> {
  for (const statement of statementsOf(migration)) {
    await limitWait();
    await sql.unsafe(statement);
  }
  await sql.unsafe("INSERT INTO migrations (name, checksum, applied_at) VALUES ($1, $2, $3)", [
    migration.name,
    checksumOf(migration),
    at,
  ]);
}

function tableHeld(cause: unknown): StoreOpenError {
  return new StoreOpenError(
    "Another session keeps a table that the new version has to change. Look for it by SELECT pid, xact_start, query FROM pg_stat_activity ORDER BY xact_start, let it end, and start again. Nothing was changed.",
    { cause },
  );
}
