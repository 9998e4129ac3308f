import { LINE_CHARS_MAX } from "./rows.ts";

/** Records, each a list of cells. */
export type Records = readonly (readonly string[])[];

/** A parser that emits records, and counts them and the empty rows between them. */
export type RecordParser = {
  readonly info: { readonly records: number; readonly empty_lines: number };
  readonly on: (event: "data", onRecord: (cells: string[]) => void) => unknown;
};

/** A quote is opened in a row and closed inside another, or a row does not end. */
export class RowError extends Error {
  override readonly name = "RowError";
  readonly fault: "open_quote" | "too_long";
  /** Counted from 1, empty rows included. */
  readonly row: number;

  constructor(fault: RowError["fault"], row: number) {
    super();
    this.fault = fault;
    this.row = row;
  }
}

/** The text of one record: its cells, which have at most half as many, with their delimiters and quotes. */
const RECORD_TEXT_CHARS_MAX = 2 * LINE_CHARS_MAX;
/** Characters at the end of a piece that the parser leaves until it sees the next are fewer. */
const CHARS_LEFT_MAX = 64;
/** Characters of a cell by which it is found in the text. */
const CELL_START_CHARS = 40;

/**
 * Collects the records of a parser, up to the first in which an unclosed quote has swallowed rows. The parser takes
 * such a quote for a character of the cell, which then begins with a quote and contains a line end. The text is held back
 * to the start of the open record, which is at most `RECORD_TEXT_CHARS_MAX` and two pieces.
 */
export function createRecordCollector(parser: RecordParser, lineEnds: readonly string[]) {
  let records: { readonly cells: readonly string[]; readonly row: number }[] = [];
  let recordsReceived = 0;
  let fault: RowError | null = null;
  let text = "";
  /** Where in the text the last cell that was looked for ends at the latest: the next one is behind it. */
  let from = 0;
  let pieceChars = 0;
  /** Characters of the pieces since the last in which a row ended. */
  let openChars = 0;
  let rowsEnded = 0;

  /** Empty rows included. */
  const rowsRead = () => parser.info.records + parser.info.empty_lines;

  function beginsUnclosed(cell: string): boolean {
    if (!cell.startsWith('"') || !lineEnds.some((end) => cell.includes(end))) return false;
    const source = `"${cell.slice(0, CELL_START_CHARS).replaceAll('"', '""')}`;
    const at = text.indexOf(source, from);
    if (at !== -1) from = at + source.length;
    return at === -1;
  }

  /** Drops the text before the last piece once a row has ended in it, unless records that ended there are still to come. */
  function dropEnded(): void {
    if (rowsRead() === rowsEnded || recordsReceived < parser.info.records) {
      openChars += pieceChars;
      return;
    }
    openChars = 0;
    rowsEnded = rowsRead();
    const dropped = Math.max(0, text.length - pieceChars - CHARS_LEFT_MAX);
    text = text.slice(dropped);
    from = Math.max(0, from - dropped);
  }

  parser.on("data", (cells: string[]) => {
    recordsReceived += 1;
    records.push({ cells, row: rowsRead() });
  });
  return {
    /** Adds the piece of the text that the parser gets next. */
    add(piece: string): void {
      text += piece;
      pieceChars = piece.length;
    },
    /** Returns the records since the last call. */
    take(): Records {
      const taken: (readonly string[])[] = [];
      for (const { cells, row } of records) {
        if (fault === null && cells.some(beginsUnclosed)) fault = new RowError("open_quote", row);
        if (fault === null) taken.push(cells);
      }
      records = [];
      dropEnded();
      if (openChars > RECORD_TEXT_CHARS_MAX) fault ??= new RowError("too_long", rowsRead() + 1);
      return taken;
    },
    fault: () => fault,
    throwFault() {
      if (fault !== null) throw fault;
    },
  };
}
