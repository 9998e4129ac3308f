/** Sorted texts in one block; text `n` ends at `ends[n]`. */
export type TextTable = { readonly bytes: Uint8Array; readonly ends: Uint32Array };

/** `texts` must be sorted by `<` where `findText` is to work. */
export function createTextTable(texts: readonly string[]): TextTable {
  const joined = Buffer.from(texts.join(""), "utf8");
  const bytes = new Uint8Array(joined);
  const ends = new Uint32Array(texts.length);
  let end = 0;
  for (let at = 0; at < texts.length; at++) {
    end += Buffer.byteLength(texts[at] ?? "", "utf8");
    ends[at] = end;
  }
  return { bytes, ends };
}

export function textAt(table: TextTable, at: number): string {
  const from = at === 0 ? 0 : (table.ends[at - 1] ?? 0);
  return Buffer.from(
    table.bytes.buffer,
    table.bytes.byteOffset + from,
    (table.ends[at] ?? 0) - from,
  ).toString();
}

/** The first position whose text is not less than the given one. */
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

/** The position of a text, or -1. */
export function findText(table: TextTable, text: string): number {
  const at = lowerBound(table, text);
  return at < table.ends.length && textAt(table, at) === text ? at : -1;
}
