import { Database, SQLiteError } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreOpenError } from "../../storage-error.ts";
import { isOurs, requireDatabase } from "./database-file.ts";

/**
 * Writes a consistent, checked copy of a data directory's database to a new file, while the server runs or not:
 * what was committed before the call is in it. To restore, put that file as `assay.db` into an empty directory
 * and set DATA_DIR to it.
 */
export function backupDatabase(options: { readonly dataDir: string; readonly toPath: string }): {
  readonly bytes: number;
} {
  const { dataDir, toPath } = options;
  const fromPath = requireDatabase(dataDir);
  if (existsSync(toPath)) {
    throw new StoreOpenError(`The file ${toPath} exists. Name a new file for the backup.`);
  }
  let folder: string | undefined;
  try {
    // Beside the target, so that the whole copy appears there in one step.
    folder = mkdtempSync(`${toPath}.part-`);
    const part = join(folder, basename(toPath));
    copy(fromPath, part);
    check(part);
    chmodSync(part, 0o600);
    flush(part);
    renameSync(part, toPath);
    flush(dirname(toPath));
  } catch (error) {
    throw new StoreOpenError(`The backup to ${toPath} failed: ${reason(error)}.`, { cause: error });
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return { bytes: statSync(toPath).size };
}

function copy(fromPath: string, toPath: string): void {
  const source = new Database(fromPath, { readwrite: true, create: false });
  try {
    source.run("PRAGMA busy_timeout = 10000");
    if (!isOurs(source)) throw new Error(`${fromPath} is empty, or belongs to another program`);
    source.query("VACUUM INTO ?").run(toPath);
  } finally {
    source.close(true);
  }
}

function check(path: string): void {
  const database = new Database(path, { readonly: true });
  try {
    const row = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
    if (row?.quick_check !== "ok") throw new Error(`the copy is damaged (${row?.quick_check})`);
  } finally {
    database.close(true);
  }
}

function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const REASONS: { readonly [code: string]: string } = {
  SQLITE_FULL: "the disk is full",
  ENOSPC: "the disk is full",
  ENOENT: "its folder does not exist",
  ENOTDIR: "its folder does not exist",
  EACCES: "this user may not write there",
  EROFS: "the disk is read-only",
  SQLITE_CORRUPT: "the database is damaged",
  SQLITE_NOTADB: "the database is damaged",
};

function reason(error: unknown): string {
  const code = error instanceof SQLiteError ? error.code : (error as NodeJS.ErrnoException).code;
  return REASONS[code ?? ""] ?? (error instanceof Error ? error.message : String(error));
}
