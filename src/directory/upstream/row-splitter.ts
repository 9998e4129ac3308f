import { createRowBuffer, withoutLeadingSpace } from "../snapshot/row-bytes.ts";
import { createKeyReader, createNesting, isJson } from "./json-nesting.ts";

/** A body that holds no directory: another format, cut off, or past a limit. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

export type RowSplitter = {
  /** Takes the next bytes of the body and emits the rows that are complete. */
  readonly push: (chunk: Uint8Array) => void;
  /** Says that the body is over. Throws FormatError where it ended inside a row, an array or an object. */
  readonly end: () => Envelope;
};

/** What an object that holds the listings says beside them; empty for the other forms. */
export type Envelope = { readonly [name: string]: unknown };

export type RowLimits = { readonly rowBytesMax: number; readonly rowsMax: number };

/** Gets each row's bytes, or null for a row past `rowBytesMax`; the bytes are valid during the call only. */
export type RowTaker = (row: Uint8Array | null) => void;

const LINE_END = 0x0a;
const COMMA = 0x2c;
const [BRACKET_OPEN, BRACE_OPEN] = [0x5b, 0x7b];

/**
 * Cuts a body into rows as it arrives, without holding more than one row: JSON lines, an array, or an object
 * with an array under listings, items or data. Throws FormatError for anything else and past `rowsMax`.
 */
export function createRowSplitter(limits: RowLimits, takeRow: RowTaker): RowSplitter {
  let rows = 0;
  let mode: Mode | null = null;
  const take: RowTaker = (row) => {
    rows += 1;
    if (rows > limits.rowsMax) throw new FormatError(`more than ${limits.rowsMax} rows`);
    takeRow(row);
  };
  const begin = (first: number): Mode => {
    if (first === BRACKET_OPEN) return createArrayMode(limits, take, null);
    if (first === BRACE_OPEN) return createObjectMode(limits, take);
    throw new FormatError("neither JSON lines nor a JSON array or object");
  };
  return {
    push(chunk) {
      let rest: Uint8Array | null = chunk;
      if (mode === null) {
        rest = withoutLeadingSpace(chunk);
        if (rest.length === 0) return;
        mode = begin(rest[0] ?? 0);
      }
      // A mode that has seen enough hands the rest over to the next one.
      while (rest !== null && rest.length > 0) {
        const turn: Turn = mode.push(rest);
        mode = turn.mode ?? mode;
        rest = turn.rest;
      }
    },
    end: () => mode?.end() ?? {},
  };
}

type Turn = { readonly mode: Mode | null; readonly rest: Uint8Array | null };
type Mode = { readonly push: (chunk: Uint8Array) => Turn; readonly end: () => Envelope };
const TAKEN: Turn = { mode: null, rest: null };

function createLineMode(limits: RowLimits, take: RowTaker): Mode {
  const line = createRowBuffer(limits.rowBytesMax);
  const isBlank = (row: Uint8Array | null): boolean => row !== null && withoutLeadingSpace(row).length === 0;
  return {
    push(chunk) {
      let from = 0;
      for (let to = chunk.indexOf(LINE_END); to >= 0; to = chunk.indexOf(LINE_END, from)) {
        line.add(chunk.subarray(from, to));
        const row = line.take();
        if (!isBlank(row)) take(row);
        from = to + 1;
      }
      line.add(chunk.subarray(from));
      return TAKEN;
    },
    end() {
      const last = line.take();
      if (isBlank(last)) return {};
      // Only whole JSON shows that the line end is missing by intent and nothing else with it.
      if (last === null || !isJson(last)) throw new FormatError("the body ends inside a row");
      take(last);
      return {};
    },
  };
}

/** An array from its opening bracket on; `prefix` is what stood before it in an object, null for a bare array. */
function createArrayMode(limits: RowLimits, take: RowTaker, prefix: string | null): Mode {
  const nesting = createNesting();
  const row = createRowBuffer(limits.rowBytesMax);
  let opened = false;
  const endRow = (last: Uint8Array): void => {
    row.add(last);
    const bytes = row.take();
    if (bytes === null || withoutLeadingSpace(bytes).length > 0) take(bytes);
  };
  return {
    push(chunk) {
      let from = 0;
      if (!opened) {
        nesting.step(chunk[0] ?? 0);
        opened = true;
        from = 1;
      }
      for (let at = from; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0;
        nesting.step(byte);
        if (nesting.depth === 0) {
          endRow(chunk.subarray(from, at));
          return { mode: createSuffixMode(limits, prefix), rest: chunk.subarray(at + 1) };
        }
        if (byte === COMMA && nesting.depth === 1 && !nesting.inString) {
          endRow(chunk.subarray(from, at));
          from = at + 1;
        }
      }
      row.add(chunk.subarray(from));
      return TAKEN;
    },
    end() {
      throw new FormatError("the body ends inside the array");
    },
  };
}

/** What follows the array: the rest of the object, or nothing. */
function createSuffixMode(limits: RowLimits, prefix: string | null): Mode {
  const suffix = createRowBuffer(limits.rowBytesMax);
  return {
    push(chunk) {
      suffix.add(chunk);
      return TAKEN;
    },
    end() {
      const bytes = suffix.take();
      const text = bytes === null ? "too long" : new TextDecoder().decode(bytes);
      if (prefix === null && text.trim() !== "") throw new FormatError("something follows the array");
      return prefix === null ? {} : parseEnvelope(`${prefix}[]${text}`);
    },
  };
}

function parseEnvelope(text: string): Envelope {
  try {
    return JSON.parse(text) as Envelope;
  } catch (error) {
    throw new FormatError("the object around the listings is broken", { cause: error });
  }
}

/**
 * A body that begins with a brace, until it shows what it is: an array under one of the known names before
 * any `host` makes it an object that holds the listings; else it is JSON lines.
 */
function createObjectMode(limits: RowLimits, take: RowTaker): Mode {
  const seen = createRowBuffer(limits.rowBytesMax);
  const nesting = createNesting();
  const keys = createKeyReader();
  const asLines = (rest: Uint8Array): Turn => {
    const lines = createLineMode(limits, take);
    const bytes = seen.take();
    if (bytes === null) throw new FormatError(`no row within ${limits.rowBytesMax} bytes`);
    lines.push(bytes);
    return { mode: lines, rest };
  };
  let bytesSeen = 0;
  return {
    push(chunk) {
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0;
        if (keys.opensList(byte, nesting.depth, nesting.inString)) {
          seen.add(chunk.subarray(0, at));
          const prefix = new TextDecoder().decode(seen.take() ?? new Uint8Array());
          return { mode: createArrayMode(limits, take, prefix), rest: chunk.subarray(at) };
        }
        nesting.step(byte);
        bytesSeen += 1;
        if (nesting.depth === 0 || bytesSeen >= limits.rowBytesMax) {
          seen.add(chunk.subarray(0, at + 1));
          return asLines(chunk.subarray(at + 1));
        }
      }
      seen.add(chunk);
      return TAKEN;
    },
    end: () => asLines(new Uint8Array()).mode?.end() ?? {},
  };
}
