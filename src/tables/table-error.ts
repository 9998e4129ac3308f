/** A list that cannot be read. The message is for its sender. */
export class TableError extends Error {
  override readonly name = "TableError";
}
