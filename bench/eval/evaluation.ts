/** What an evaluation found: lines to print, and whether every target is met. */
export type Evaluation = { readonly lines: readonly string[]; readonly ok: boolean };

/** The rows of a data file: comments left out, columns at tabs. */
export function rowsOf(text: string): string[][] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}

export function percent(part: number, whole: number): string {
  return `${((100 * part) / whole).toFixed(1)} %`;
}
