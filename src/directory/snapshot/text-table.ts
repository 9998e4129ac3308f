/** Sorted texts in one buffer; text `n` ends at `ends[n]`. */
export type TextTable = { readonly bytes: Uint8Array; readonly ends: Uint32Array };

/** Creates a table; `findText` works only where `texts` are sorted by `<`. */
export function createTextTable(texts: readonly string[]): TextTable {
  const ends = new Uint32Array(texts.length);
  let size = 0;
  for (let at = 0; at < texts.length; at++) {
    size += Buffer.byteLength(texts[at] ?? "");
    ends[at] = size;
  }
  const bytes = Buffer.from(new ArrayBuffer(size));
  for (let at = 0, end = 0; at < texts.length; at++) end += bytes.write(texts[at] ?? "", end);
  return { bytes: new Uint8Array(bytes.buffer), ends };
}

/** Returns the text at a position. */
export function textAt(table: TextTable, at: number): string {
  const start = at === 0 ? 0 : (table.ends[at - 1] ?? 0);
  return Buffer.from(
    table.bytes.buffer,
    table.bytes.byteOffset + start,
    (table.ends[at] ?? 0) - start,
  ).toString();
}

/** Returns the first position whose text is not less than the given one. */
export function lowerBound(table: TextTable, text: string): number {
  let low = 0;
  let high = table.ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textAt(table, middle) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the position of a text, or -1. */
export function findText(table: TextTable, text: string): number {
  const at = lowerBound(table, text);
  return at < table.ends.length && textAt(table, at) === text ? at : -1;
}
