/** Returns the rows of a vector file without comments, split at tabs, with `\u{…}` as the code point. */
export function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("# ") && line !== "#")
    .map((line) => line.split("\t").map(withCodePoints));
}

function withCodePoints(text: string): string {
  return text.replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}
