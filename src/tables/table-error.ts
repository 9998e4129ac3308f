/** A list that cannot be read as it is. The message is for its sender. */
export class TableError extends Error {
  override readonly name = "TableError";
}
