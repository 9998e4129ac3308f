/** The database could not be read or written now: disk full, I/O error, file gone. A later try may succeed. */
export class StorageError extends Error {
  override readonly name = "StorageError";
}

/** The data directory or its database cannot be used. The message tells the operator what to do. */
export class StoreOpenError extends Error {
  override readonly name = "StoreOpenError";
}
