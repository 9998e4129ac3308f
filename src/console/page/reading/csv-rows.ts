/** Reads the cells of CSV text that comes in pieces; empty lines are skipped, as by the server. */
export type CsvReader = {
  readonly push: (piece: string) => void;
  readonly end: () => void;
};

/** A longer cell was opened by a quote without an end. */
const CELL_CHARS_MAX = 1_000_000;

export function createCsvReader(delimiter: string, onRow: (cells: readonly string[]) => void): CsvReader {
  let cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  /** The last character closed a quote, or began an escaped one. */
  let isAfterQuote = false;
  let hasQuote = false;

  const endCell = () => {
    cells.push(cell);
    cell = "";
    hasQuote = false;
    isAfterQuote = false;
  };
  const endRow = () => {
    if (cells.length === 0 && cell === "" && !hasQuote) return;
    endCell();
    onRow(cells);
    cells = [];
  };

  return {
    push(piece) {
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const character = piece.charAt(at);
        if (isQuoted) {
          if (character !== '"') continue;
          cell += piece.slice(from, at);
          from = at + 1;
          isQuoted = false;
          isAfterQuote = true;
          continue;
        }
        if (character === '"' && isAfterQuote) {
          cell += '"';
          from = at + 1;
          isQuoted = true;
          isAfterQuote = false;
        } else if (character === '"' && cell === "" && from === at && !hasQuote) {
          from = at + 1;
          isQuoted = true;
          hasQuote = true;
        } else if (character === delimiter || character === "\n" || character === "\r") {
          cell += piece.slice(from, at);
          from = at + 1;
          if (character === delimiter) endCell();
          else endRow();
        } else isAfterQuote = false;
      }
      cell += piece.slice(from);
      if (cell.length > CELL_CHARS_MAX) throw new Error("A cell is longer than a million characters.");
    },
    end: endRow,
  };
}
