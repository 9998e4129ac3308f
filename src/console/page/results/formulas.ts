/** What the CSV of some spreadsheet separates cells by: it goes by the settings of its user, whatever the file has. */
const SEPARATORS = ",;\t|\n\r";
/** The second four are full-width forms, which some spreadsheets fold. */
const FORMULA_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20";

/**
 * Rewrites CSV against formula injection: an apostrophe is put before `=`, `+`, `-` and `@` where a cell starts by the
 * delimiter of any spreadsheet, in quotes too, and before a cell that starts with a tab or a line end. Nothing else
 * changes. Text comes in pieces.
 */
export function createFormulaGuard(): (piece: string, isLast: boolean) => string {
  let delimiter: string | null = null;
  let held = "";
  /** By any separator; quotes before the first character do not count. */
  let isStart = true;
  /** By the delimiter of this file. */
  let isCellStart = true;
  let isQuoted = false;

  const guard = (text: string, separator: string): string => {
    let written = "";
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text.charAt(at);
      // A byte order mark is not a part of the first cell.
      if (character === "\ufeff" && isStart) continue;
      if (character === '"') {
        isCellStart &&= !isQuoted;
        isQuoted = !isQuoted;
        continue;
      }
      const isFormula = isStart && FORMULA_STARTS.includes(character);
      if (isFormula || (isCellStart && isBlank(character, isQuoted, separator))) {
        written += `${text.slice(from, at)}'`;
        from = at;
      }
      isStart = SEPARATORS.includes(character);
      isCellStart = !isQuoted && (character === separator || character === "\n" || character === "\r");
    }
    return written + text.slice(from);
  };

  return (piece, isLast) => {
    if (delimiter !== null) return guard(piece, delimiter);
    held += piece;
    const end = held.indexOf("\n");
    if (end === -1 && !isLast) return "";
    delimiter = delimiterOf(end === -1 ? held : held.slice(0, end));
    const text = held;
    held = "";
    return guard(text, delimiter);
  };
}

const DELIMITERS = [",", ";", "\t", "|"];

/** Detects the delimiter: the most frequent one in the header, which has a dozen columns of ours. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((each) => bare.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Whether a spreadsheet would pass over the character at the start of a cell, and run what follows. */
function isBlank(character: string, isQuoted: boolean, separator: string): boolean {
  if (character === "\n" || character === "\r") return isQuoted;
  return character === "\t" && (isQuoted || separator !== "\t");
}
