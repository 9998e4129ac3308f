import { areInMemory, readRows, rowBytes, type SnapshotRows } from "./snapshot.ts";

const COMMA = 0x2c;

/** Joins the texts of listings with commas, between `head` and `tail`. */
export function joinListings(
  snapshot: SnapshotRows,
  rows: readonly number[],
  head: string,
  tail: string,
): Uint8Array<ArrayBuffer> {
  const texts = rows.map((row) => rowBytes(snapshot, row));
  return joinTexts(texts, head, tail);
}

/** Does the same for texts that may be in a file, and returns a promise where they are. */
export function gatherListings(
  snapshot: SnapshotRows,
  rows: readonly number[],
  head: string,
  tail: string,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  if (areInMemory(snapshot, rows)) return joinListings(snapshot, rows, head, tail);
  return readRows(snapshot, rows).then((texts) => joinTexts(texts, head, tail));
}

function joinTexts(texts: readonly Uint8Array[], head: string, tail: string): Uint8Array<ArrayBuffer> {
  const before = Buffer.from(head);
  const after = Buffer.from(tail);
  const separators = Math.max(0, texts.length - 1);
  const body = new Uint8Array(
    texts.reduce((sum, text) => sum + text.length, before.length + after.length + separators),
  );
  body.set(before, 0);
  let at = before.length;
  for (const [index, text] of texts.entries()) {
    if (index > 0) body[at++] = COMMA;
    body.set(text, at);
    at += text.length;
  }
  body.set(after, at);
  return body;
}
