import type { Database } from "bun:sqlite";
import type { Clock } from "../../platform/clock.ts";
import {
  type AppliedMigration,
  checksumOf,
  type Migration,
  missingMigrations,
  statementsOf,
} from "../migration.ts";
import { StoreOpenError } from "../storage-error.ts";
import initial from "./migrations/0000_initial.sql" with { type: "text" };
import issuedInvoices from "./migrations/0001_issued_invoices.sql" with { type: "text" };
import operators from "./migrations/0002_operators.sql" with { type: "text" };
import jobs from "./migrations/0003_jobs.sql" with { type: "text" };
import keys from "./migrations/0004_keys.sql" with { type: "text" };
import webhooks from "./migrations/0005_webhooks.sql" with { type: "text" };
import alerts from "./migrations/0006_alerts.sql" with { type: "text" };
import unreplaced from "./migrations/0007_unreplaced.sql" with { type: "text" };
import eventNumbers from "./migrations/0008_event_numbers.sql" with { type: "text" };
import listsAndAttempts from "./migrations/0009_lists_and_attempts.sql" with { type: "text" };
import planPeriods from "./migrations/0010_plan_periods.sql" with { type: "text" };
import indexedLooks from "./migrations/0011_indexed_looks.sql" with { type: "text" };

/** All steps, oldest first. They are part of the program, as a single executable has no files beside it. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_issued_invoices", sql: issuedInvoices },
  { name: "0002_operators", sql: operators },
  { name: "0003_jobs", sql: jobs },
  { name: "0004_keys", sql: keys },
  { name: "0005_webhooks", sql: webhooks },
  { name: "0006_alerts", sql: alerts },
  { name: "0007_unreplaced", sql: unreplaced },
  { name: "0008_event_numbers", sql: eventNumbers },
  { name: "0009_lists_and_attempts", sql: listsAndAttempts },
  { name: "0010_plan_periods", sql: planPeriods },
  { name: "0011_indexed_looks", sql: indexedLooks },
];

/**
 * Brings a database to the newest schema, forwards only, in one transaction. Refuses a database that a newer
 * version has written, and one whose steps are not the ones known here.
 */
export function migrate(
  database: Database,
  clock: Clock,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  database.run(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT",
  );
  database
    .transaction(() => {
      const applied = database
        .query<AppliedMigration, []>("SELECT name, checksum FROM migrations ORDER BY name")
        .all();
      for (const migration of missingMigrations(applied, migrations)) apply(database, migration, clock.now());
    })
    .exclusive();
}

/** Throws a StoreOpenError where a database has another schema than this version: a server of another one runs on it. */
export function requireNewestSchema(database: Database): void {
  const names = database.query<{ name: string }, []>("SELECT name FROM migrations ORDER BY name").all();
  if (
    names.length === MIGRATIONS.length &&
    names.every(({ name }, index) => name === MIGRATIONS[index]?.name)
  )
    return;
  throw new StoreOpenError("The server that runs is of another version. Use the command of that version.");
}

function apply(database: Database, migration: Migration, at: number): void {
  for (const statement of statementsOf(migration)) database.run(statement);
  database
    .query("INSERT INTO migrations (name, checksum, applied_at) VALUES (?, ?, ?)")
    .run(migration.name, checksumOf(migration), at);
}
