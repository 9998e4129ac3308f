import type { ReservedSQL, SQL } from "bun";
import { StoreOpenError } from "../storage-error.ts";
import initial from "./migrations/0000_initial.sql" with { type: "text" };
import unchanging from "./migrations/0001_unchanging.sql" with { type: "text" };

/** A step of the schema. Once released its text stays as it is: databases remember its checksum. */
export type Migration = { readonly name: string; readonly sql: string };

/** All steps, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial", sql: initial },
  { name: "0001_unchanging", sql: unchanging },
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
    const applied: readonly Applied[] =
      await transaction`SELECT name, checksum FROM migrations ORDER BY name`;
    checkApplied(applied, migrations);
    for (const migration of migrations.slice(applied.length)) await apply(transaction, migration, at);
  });
}

type Applied = { readonly name: string; readonly checksum: string };

function checkApplied(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined) {
      throw new StoreOpenError(
        `The database was written by a newer version (it has the step ${row.name}). Start that version or a later one, or restore a backup from before the update.`,
      );
    }
    if (migration.name !== row.name || checksum(migration.sql) !== row.checksum) {
      throw new StoreOpenError(
        `The database has a step ${row.name} that this version does not know. Start the version that wrote it, or restore a backup.`,
      );
    }
  }
}

async function apply(sql: Pick<ReservedSQL, "unsafe">, migration: Migration, at: number): Promise<void> {
  for (const statement of migration.sql.split("--> statement-breakpoint")) await sql.unsafe(statement);
  await sql.unsafe("INSERT INTO migrations (name, checksum, applied_at) VALUES ($1, $2, $3)", [
    migration.name,
    checksum(migration.sql),
    at,
  ]);
}

function checksum(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
