import { hasNul } from "./csv-text.ts";
import type { InputTable } from "./intake-messages.ts";
import { RECORD_BYTES_MAX, type RecordSink, type Refusal, tooLong } from "./records.ts";

/** Reads lines of CSV that hold no quote. */
export type LineReader = {
  /**
   * Takes the whole lines of `bytes`, and the rest too where it is the last. `end` is where it stopped: at the line
   * that holds a quote, at the one that was refused, or behind the last whole one.
   */
  readonly read: (
    bytes: Uint8Array,
    isLast: boolean,
  ) => { readonly end: number; readonly outcome: Refusal | "quote" | null };
  /** Rows so far, without the header and empty lines. */
  readonly rows: () => number;
  /** Lines so far, the header and empty ones included. */
  readonly linesRead: () => number;
  readonly isHeaderDue: () => boolean;
};

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;
const NUL = 0;

export function createLineReader(
  sink: RecordSink,
  { delimiter, index }: InputTable,
  hasHeader: boolean,
): LineReader {
  const separator = delimiter.charCodeAt(0);
  let rows = 0;
  let lines = 0;
  let isHeaderDue = hasHeader;

  /** Goes over a line once: for its item, and for a byte that a plain line does not have. */
  function take(bytes: Uint8Array, start: number, newline: number): Refusal | "quote" | null {
    const end = newline > start && bytes[newline - 1] === RETURN ? newline - 1 : newline;
    let column = 0;
    let itemStart = index === 0 ? start : -1;
    let itemEnd = -1;
    for (let at = start; at < end; at++) {
      const byte = bytes[at];
      if (byte === separator) {
        if (column === index) itemEnd = at;
        column += 1;
        if (column === index) itemStart = at + 1;
      } else if (byte === QUOTE) return "quote";
      else if (byte === NUL) return hasNul(rows + 1);
    }
    lines += 1;
    if (end === start) return null;
    if (isHeaderDue) {
      isHeaderDue = false;
      return null;
    }
    if (end - start > RECORD_BYTES_MAX) return tooLong(rows + 1);
    rows += 1;
    const item =
      itemStart === -1
        ? { bytes, start: end, end }
        : { bytes, start: itemStart, end: itemEnd === -1 ? end : itemEnd };
    return sink.take("csv", { bytes, start, end }, item);
  }

  return {
    read(bytes, isLast) {
      let start = 0;
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1; newline = bytes.indexOf(NEWLINE, start)) {
        const outcome = take(bytes, start, newline);
        if (outcome !== null) return { end: start, outcome };
        start = newline + 1;
      }
      if (!isLast || start === bytes.byteLength) return { end: start, outcome: null };
      return { end: start, outcome: take(bytes, start, bytes.byteLength) };
    },
    rows: () => rows,
    linesRead: () => lines,
    isHeaderDue: () => isHeaderDue,
  };
}
