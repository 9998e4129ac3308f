/** The delimiters that are detected. */
export const DELIMITERS: readonly string[] = [",", ";", "\t", "|"];

export type CsvForm = {
  readonly delimiter: string;
  readonly lineEnds: readonly string[];
  /** Rows of the file above the first record. */
  readonly rowsBefore: number;
};

/** A CSV text's form, and the line `sep=;` above its records with its line end; empty if it is missing. */
export type HintedForm = CsvForm & { readonly hint: string };

/** Detects the form of a CSV text from its start, which contains its first line unless that is too long. */
export function csvFormOf(start: string): HintedForm {
  const hint = /^"?sep=(.)"?\r?\n/i.exec(start);
  return {
    delimiter: hint?.[1] ?? delimiterOf(firstLineOf(start)),
    lineEnds: start.includes("\n") || !start.includes("\r") ? ["\r\n", "\n"] : ["\r"],
    rowsBefore: hint === null ? 0 : 1,
    hint: hint?.[0] ?? "",
  };
}

/** Returns the hint with this delimiter. */
export function hintFor(hint: string, delimiter: string): string {
  return hint.replace(/=./, () => `=${delimiter}`);
}

/** Returns the first line that is not blank. */
export function firstLineOf(start: string): string {
  return start.trimStart().split(/\r\n|\n|\r/, 1)[0] ?? "";
}

/** Returns the most frequent delimiter of the line outside of quotes; a comma without one. */
function delimiterOf(firstLine: string): string {
  const bare = firstLine.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}
