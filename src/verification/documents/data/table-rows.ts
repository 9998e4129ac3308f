/** Returns the rows of a tab-separated text, without blank lines and `#` comments. */
export function tableRows(text: string): readonly string[][] {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}
