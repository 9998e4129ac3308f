/** The database could not be read or written now: disk full, I/O error, file gone. A later try may succeed. */
export class StorageError extends Error {
  override readonly name = "StorageError";
}

/** Nothing was written: another session held a row that it needs for longer than is waited for. */
export class RowsHeldError extends StorageError {}

/** Nothing was written: the disk of the database is full, and will be in the next moment. */
export class NoRoomError extends StorageError {}

/**
 * Something was committed and could not be brought to the disk: whether a power cut would undo it is not known. The
 * caller may be answered neither that it was done nor that it was not.
 */
export class UnsettledError extends Error {
  override readonly name = "UnsettledError";
}

/** Whether the store did not do now what it was asked for, and may later. */
export function isStorageFailure(error: unknown): boolean {
  return error instanceof StorageError || error instanceof UnsettledError;
}

/** The data directory or its database cannot be used. The message says what the operator can do. */
export class StoreOpenError extends Error {
  override readonly name = "StoreOpenError";
}

/** Another process has taken the data directory for itself. */
export class DataDirInUseError extends StoreOpenError {}
