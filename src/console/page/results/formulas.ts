/**
 * Rewrites CSV so that a spreadsheet takes no cell for a formula: before a cell that begins with `=`, `+`, `-`, `@`, a
 * tab or a line end an apostrophe is put. Nothing else changes. Text comes in pieces.
 */
export function createFormulaGuard(): (piece: string, isLast: boolean) => string {
  let delimiter: string | null = null;
  let held = "";
  let isCellStart = true;
  let isQuoted = false;

  const guard = (text: string, separator: string): string => {
    let written = "";
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text.charAt(at);
      // A byte order mark is no part of the cell that it stands before.
      if (character === "\ufeff" && isCellStart) continue;
      if (isCellStart) {
        if (character === '"' && !isQuoted) {
          isQuoted = true;
          continue;
        }
        isCellStart = false;
        if (isRisky(character, isQuoted, separator)) {
          written += `${text.slice(from, at)}'`;
          from = at;
        }
      }
      // Inside of quotes a doubled quote closes and opens at once.
      if (character === '"') isQuoted = !isQuoted;
      else if (!isQuoted && (character === separator || character === "\n" || character === "\r")) {
        isCellStart = true;
      }
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

/** The header of a download has a dozen columns of ours, so what separates them stands in it most often. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((each) => bare.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

function isRisky(character: string, isQuoted: boolean, separator: string): boolean {
  if (character === separator && !isQuoted) return false;
  if (character === "\n" || character === "\r") return isQuoted;
  // Full-width forms are folded by some spreadsheets.
  return "=+-@\t\uff1d\uff0b\uff0d\uff20".includes(character);
}
