import { SQLiteError } from "bun:sqlite";
import { StorageError } from "../../storage-error.ts";

/** Primary result codes that speak of the disk or the file, not of the statement. */
const STORAGE_CODES: ReadonlySet<number> = new Set([
  3, // PERM
  5, // BUSY
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  26, // NOTADB
]);

const IOERR_FSYNC = 1_034;

/** Whether a commit failed when it was brought to the disk, where its pages may be or not. */
export function isSyncFailure(error: unknown): boolean {
  return error instanceof SQLiteError && error.errno === IOERR_FSYNC;
}

/** An error of the disk becomes a StorageError; any other stays what it is. */
export function asStorageError(error: unknown): unknown {
  if (!(error instanceof SQLiteError) || !STORAGE_CODES.has(error.errno & 0xff)) return error;
  return new StorageError(`${error.code ?? "SQLITE"}: ${error.message}`, { cause: error });
}

type Functions = Readonly<Record<string, (...values: never[]) => unknown>>;

/** The same functions, each of which runs `before` first and throws what `seen` makes of an error. */
export function withStorageErrors<T extends Functions>(
  functions: T,
  seen: (error: unknown) => unknown,
  before: () => void = () => {},
): T {
  const wrapped = Object.entries(functions).map(([name, declared]) => {
    const call = declared as (...values: unknown[]) => unknown;
    const mapped = (...values: unknown[]): unknown => {
      try {
        before();
        return call(...values);
      } catch (error) {
        throw seen(error);
      }
    };
    return [name, mapped] as const;
  });
  return Object.fromEntries(wrapped) as unknown as T;
}
