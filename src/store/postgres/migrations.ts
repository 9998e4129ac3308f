import type { ReservedSQL, SQL } from "bun";
import {
  type AppliedMigration,
  checksumOf,
  type Migration,
  missingMigrations,
  statementsOf,
} from "../migration.ts";
import initial from "./migrations/0000_initial.sql" with { type: "text" };
import unchanging from "./migrations/0001_unchanging.sql" with { type: "text" };
import jobs from "./migrations/0002_jobs.sql" with { type: "text" };
import directory from "./migrations/0003_directory.sql" with { type: "text" };
import untruncated from "./migrations/0004_untruncated.sql" with { type: "text" };
import plainGroups from "./migrations/0005_plain_groups.sql" with { type: "text" };
import atOnce from "./migrations/0006_at_once.sql" with { type: "text" };
import fewAccounts from "./migrations/0007_few_accounts.sql" with { type: "text" };
import signingKeys from "./migrations/0008_signing_keys.sql" with { type: "text" };

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
];

/** Held by the one node that migrates; any number that nothing else in the database locks. */
const LOCK = 4_270_117_001;

/**
 * Brings a database to the newest schema, forwards only, in one transaction, while other nodes that start wait.
 * Refuses a database that a newer version has written, and one whose steps are not the ones known here. `at` is the
 * time in milliseconds since the epoch that is written beside the steps.
 */
export async function migrate(
  sql: SQL,
  at: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${LOCK}::bigint)`;
    await transaction.unsafe(
      "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at bigint NOT NULL)",
    );
    const applied: readonly AppliedMigration[] =
      await transaction`SELECT name, checksum FROM migrations ORDER BY name`;
    for (const migration of missingMigrations(applied, migrations)) await apply(transaction, migration, at);
  });
}

async function apply(sql: Pick<ReservedSQL, "unsafe">, migration: Migration, at: number): Promise<void> {
  for (const statement of statementsOf(migration)) await sql.unsafe(statement);
  await sql.unsafe("INSERT INTO migrations (name, checksum, applied_at) VALUES ($1, $2, $3)", [
    migration.name,
    checksumOf(migration),
    at,
  ]);
}
