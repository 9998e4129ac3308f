/** Finds what stands at the longest prefix of a number's digits. */
export type PrefixTable = (digits: string) => string | undefined;

/** Prefixes of one length, rising, each with the index of its value. */
type Row = { readonly prefixes: Uint32Array; readonly values: Uint16Array };

/** Longer prefixes would not fit into 32 bits. */
const PREFIX_DIGITS_MAX = 9;

/**
 * Decodes lines of `value TAB prefix prefix …`; `#` begins a comment. Takes 6 bytes a prefix. A look-up is
 * one binary search for each length of prefix.
 */
export function decodePrefixTable(text: string): PrefixTable {
  const values: string[] = [];
  const entries: [prefix: number, value: number][][] = Array.from(
    { length: PREFIX_DIGITS_MAX + 1 },
    () => [],
  );
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [value = "", prefixes = ""] = line.split("\t");
    for (const prefix of prefixes.split(" ")) entries[prefix.length]?.push([Number(prefix), values.length]);
    values.push(value);
  }
  const rows = entries.map(toRow);
  return (digits) => {
    const longest = Math.min(digits.length, PREFIX_DIGITS_MAX);
    let prefix = Number(digits.slice(0, longest));
    for (let length = longest; length > 0; length -= 1) {
      const row = rows[length];
      const at = row === undefined ? undefined : valueAt(row, prefix);
      if (at !== undefined) return values[at];
      prefix = Math.floor(prefix / 10);
    }
    return undefined;
  };
}

function toRow(entries: [prefix: number, value: number][]): Row {
  const sorted = entries.sort(([one], [other]) => one - other);
  return {
    prefixes: Uint32Array.from(sorted, ([prefix]) => prefix),
    values: Uint16Array.from(sorted, ([, value]) => value),
  };
}

function valueAt({ prefixes, values }: Row, prefix: number): number | undefined {
  let low = 0;
  let high = prefixes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((prefixes[middle] ?? 0) < prefix) low = middle + 1;
    else high = middle;
  }
  return prefixes[low] === prefix ? values[low] : undefined;
}
