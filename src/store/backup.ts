import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { databasePath } from "./database-file.ts";
import { StoreOpenError } from "./storage-error.ts";

/**
 * Writes a consistent copy of a data directory's database to a new file, while the server runs or not. To
 * restore, put that file as `assay.db` into an empty directory and set DATA_DIR to it.
 */
export function backupDatabase(options: { readonly dataDir: string; readonly toPath: string }): {
  readonly bytes: number;
} {
  const { dataDir, toPath } = options;
  const fromPath = databasePath(dataDir);
  if (!existsSync(fromPath)) {
    throw new StoreOpenError(
      `There is no database ${fromPath}. Set DATA_DIR to the directory of the server.`,
    );
  }
  if (existsSync(toPath)) {
    throw new StoreOpenError(`The file ${toPath} exists. Name a new file for the backup.`);
  }
  const partPath = `${toPath}.part`;
  let source: Database | undefined;
  try {
    rmSync(partPath, { force: true });
    source = new Database(fromPath, { readwrite: true, create: false });
    source.run("PRAGMA busy_timeout = 10000");
    source.query("VACUUM INTO ?").run(partPath);
    flush(partPath);
    renameSync(partPath, toPath);
    flush(dirname(toPath));
  } catch (error) {
    rmSync(partPath, { force: true });
    throw new StoreOpenError(`The backup to ${toPath} failed (${String(error)}).`, { cause: error });
  } finally {
    source?.close(true);
  }
  return { bytes: statSync(toPath).size };
}

function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
