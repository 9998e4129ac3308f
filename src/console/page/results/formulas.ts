/**
 * Rewrites CSV against formula injection: an apostrophe is put before a cell that starts with `=`, `+`, `-`, `@`, a tab or a
 * line end. Nothing else changes. Text comes in pieces.
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
      // A byte order mark is not a part of the first cell.
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
      // Within quotes, a doubled quote closes and reopens.
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

/** Detects the delimiter: the most frequent one in the header, which has a dozen columns of ours. */
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
