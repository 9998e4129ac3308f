/** A list that cannot be read as it stands. The message is for whoever sent it. */
export class TableError extends Error {
  override readonly name = "TableError";
}
