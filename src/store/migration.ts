import { sha256 } from "../platform/sha256.ts";
import { StoreOpenError } from "./storage-error.ts";

/** A step of the schema. Once released its text stays as it is: databases remember its checksum. */
export type Migration = { readonly name: string; readonly sql: string };

/** A step that a database has. */
export type AppliedMigration = { readonly name: string; readonly checksum: string };

/** Returns the statements of a step, in order. */
export function statementsOf(migration: Migration): readonly string[] {
  return migration.sql.split("--> statement-breakpoint");
}

/** Returns what a database remembers of a step's text. */
export function checksumOf(migration: Migration): string {
  return sha256(migration.sql);
}

/**
 * Returns the steps that a database lacks, of all steps, oldest first. Throws a StoreOpenError where a newer version
 * has written it, and where its steps are not the ones known here.
 */
export function missingMigrations(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): readonly Migration[] {
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined) {
      throw new StoreOpenError(
        `The database was written by a newer version (it has the step ${row.name}). Start that version or a later one, or restore a backup from before the update.`,
      );
    }
    if (migration.name !== row.name || checksumOf(migration) !== row.checksum) {
      throw new StoreOpenError(
        `The database has a step ${row.name} that this version does not know. Start the version that wrote it, or restore a backup.`,
      );
    }
  }
  return migrations.slice(applied.length);
}
