import { Database, SQLiteError } from "bun:sqlite";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemCode, systemReason } from "../../../platform/system-reason.ts";
import { StoreOpenError } from "../../storage-error.ts";

/** "ASSY": marks a database file as one of this program's. */
const APPLICATION_ID = 0x41535359;

/** Whether a database is one of this program's; an empty file is none. */
export function isOurs(database: Database): boolean {
  const row = database.query<{ application_id: number }, []>("PRAGMA application_id").get();
  return row?.application_id === APPLICATION_ID;
}

/** Larger files are not read through at the start, which would keep everyone waiting for seconds. */
const CHECKED_BYTES_MAX = 128 * 1024 * 1024;

/** Primary result codes that speak of what is in the file: CORRUPT and NOTADB. */
const DAMAGE_CODES: ReadonlySet<number> = new Set([11, 26]);

/** What opening a database takes at least, with its log and the log's index. */
const PROBE_BYTES = 256 * 1024;

/** Where the database of a data directory is. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "assay.db");
}

/** Returns where the database of a data directory is. Throws a StoreOpenError where there is none that this user may read. */
export function requireDatabase(dataDir: string): string {
  const path = databasePath(dataDir);
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error))) {
      throw new StoreOpenError(`There is no database ${path}. Set DATA_DIR to the directory of the server.`);
    }
    throw new StoreOpenError(
      `The database ${path} cannot be read (${systemReason(error)}). Run the command as the user of the server.`,
      { cause: error },
    );
  }
}

/** Makes the data directory where it is missing, and finds out whether it takes files. */
export function prepareDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreOpenError(
      `The data directory ${dataDir} cannot be made (${systemReason(error)}). Set DATA_DIR to a directory, or to one that this user may make.`,
      { cause: error },
    );
  }
  const probe = join(dataDir, "assay.probe");
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600 });
    rmSync(probe);
  } catch (error) {
    if (existsSync(probe)) rmSync(probe);
    throw new StoreOpenError(
      `The data directory ${dataDir} cannot be written (${systemReason(error)}). Give this user the right to write there and free space, or set DATA_DIR to another directory.`,
      { cause: error },
    );
  }
}

/** Opens the database file for writing; a missing one is made. Refuses what is damaged or not ours. */
export function openDatabaseFile(path: string): Database {
  const bytes = existsSync(path) ? statSync(path).size : 0;
  if (bytes === 0 && existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0) {
    throw new StoreOpenError(
      `The database ${path} is gone, though ${path}-wal is there. ${restoreAdvice(path)}`,
    );
  }
  if (bytes > 0) checkHeader(path, bytes);
  let database: Database | undefined;
  try {
    makePrivate(path);
    database = new Database(path, { create: true, readwrite: true, strict: true });
    // A backup that reads a database left by a crash recovers its log first, and locks the database meanwhile.
    database.run("PRAGMA busy_timeout = 2000");
    if (bytes > 0) checkContent(database, path, bytes);
    setUp(database);
    return database;
  } catch (error) {
    database?.close(true);
    throw asOpenError(path, error);
  }
}

/**
 * Makes a file where it is missing, and leaves it and what SQLite has beside it to their owner alone. SQLite gives
 * the files that it makes later the mode of the first.
 */
export function makePrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}

/** What stops a database from being opened, as a sentence for the operator. A bug stays what it is. */
export function asOpenError(path: string, error: unknown): unknown {
  if (!(error instanceof SQLiteError)) return error;
  if (DAMAGE_CODES.has(error.errno & 0xff)) return damaged(path, reason(error), error);
  return new StoreOpenError(
    `The database ${path} cannot be opened now (${reason(error)}). Make sure that its disk works and has free space, and that no other program uses it.`,
    { cause: error },
  );
}

/** A database in memory, for tests. */
export function openMemoryDatabase(): Database {
  const database = new Database(":memory:", { strict: true });
  setUp(database);
  return database;
}

function setUp(database: Database): void {
  // FULL: a commit is on the disk when it returns, also when the power fails right after.
  for (const pragma of [
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "trusted_schema = OFF",
    "temp_store = MEMORY",
    "cache_size = -32768",
    // What is deleted is overwritten.
    "secure_delete = ON",
    "journal_size_limit = 67108864",
    `application_id = ${APPLICATION_ID}`,
  ]) {
    database.run(`PRAGMA ${pragma}`);
  }
}

function checkHeader(path: string, bytes: number): void {
  const header = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  if (header.toString("latin1", 0, 16) !== "SQLite format 3\0") throw damaged(path, "it is no SQLite file");
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  if (bytes % pageBytes !== 0) throw damaged(path, "its last page is cut off");
}

function checkContent(database: Database, path: string, bytes: number): void {
  if (!isOurs(database)) {
    throw new StoreOpenError(
      `The database ${path} belongs to another program. Set DATA_DIR to another directory, or move that file away.`,
    );
  }
  if (bytes > CHECKED_BYTES_MAX) return;
  const found = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check;
  if (found !== "ok") throw damaged(path, found ?? "the check gave no answer");
}

function damaged(path: string, what: string, cause?: unknown): StoreOpenError {
  return new StoreOpenError(`The database ${path} is damaged (${what}). ${restoreAdvice(path)}`, { cause });
}

/** Returns what an operator does to bring a lost database back. */
export function restoreAdvice(path: string): string {
  return `To restore a backup: move ${path}, ${path}-wal and ${path}-shm away, copy the backup to ${path}, and start again.`;
}

function reason(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
}
