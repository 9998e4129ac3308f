/**
 * Reads the cells of CSV text that comes in pieces, malformed quotes too, as the server does: a quoted cell ends with a
 * quote before a delimiter or a line end, and is taken with its quotes where other text follows. Empty lines are skipped.
 */
export type CsvReader = {
  readonly push: (piece: string) => void;
  readonly end: () => void;
};

export type CsvDialect = { readonly delimiter: string; readonly lineEnds: readonly string[] };

/** A longer cell was opened by a quote without an end. */
const CELL_CHARS_MAX = 1_000_000;

export function createCsvReader(
  { delimiter, lineEnds }: CsvDialect,
  onRow: (cells: readonly string[]) => void,
): CsvReader {
  /** From a quote that may close a cell to the end of a line end behind it. */
  const decidedWithin = 1 + Math.max(...lineEnds.map(({ length }) => length));
  const firstOfLineEnds = new Set(lineEnds.map((lineEnd) => lineEnd.charAt(0)));
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  let hasQuote = false;
  let undecided = "";

  const endCell = () => {
    cells.push(cell);
    cell = "";
    hasQuote = false;
  };
  const endRow = () => {
    if (cells.length === 0 && cell === "" && !hasQuote) return;
    endCell();
    onRow(cells);
    cells = [];
  };
  const lineEndAt = (text: string, at: number) => lineEnds.find((lineEnd) => text.startsWith(lineEnd, at));

  /** Reads on behind a quote within a quoted cell, of which `text` has the characters up to it. */
  function readQuote(text: string, from: number, at: number): number {
    const next = text.charAt(at + 1);
    if (next === '"') {
      cell += text.slice(from, at + 1);
      return at + 2;
    }
    isQuoted = false;
    const isClosed = next === "" || next === delimiter || lineEndAt(text, at + 1) !== undefined;
    cell = isClosed ? cell + text.slice(from, at) : `"${cell}${text.slice(from, at + 1)}`;
    return at + 1;
  }

  function read(text: string, isLast: boolean): void {
    let from = 0;
    let at = 0;
    while (at < text.length) {
      const character = text.charAt(at);
      const mayEnd = isQuoted ? character === '"' : firstOfLineEnds.has(character);
      if (mayEnd && !isLast && at + decidedWithin > text.length) break;
      const lineEnd = mayEnd && !isQuoted ? lineEndAt(text, at) : undefined;
      if (isQuoted) {
        if (mayEnd) from = at = readQuote(text, from, at);
        else at += 1;
      } else if (character === '"' && cell === "" && from === at && !hasQuote) {
        isQuoted = true;
        hasQuote = true;
        from = at += 1;
      } else if (character === delimiter || lineEnd !== undefined) {
        cell += text.slice(from, at);
        from = at += lineEnd?.length ?? 1;
        if (lineEnd === undefined) endCell();
        else endRow();
      } else at += 1;
    }
    cell += text.slice(from, at);
    undecided = text.slice(at);
    if (cell.length > CELL_CHARS_MAX) throw new Error("A cell is longer than a million characters.");
  }

  return {
    push: (piece) => read(undecided + piece, false),
    end() {
      read(undecided, true);
      endRow();
    },
  };
}
