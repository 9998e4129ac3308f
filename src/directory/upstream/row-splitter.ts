import { createRowBuffer, withoutLeadingSpace } from "../snapshot/row-bytes.ts";
import { createKeyReader, createNesting, isJson, type ListKeys } from "./json-nesting.ts";

/** A body that is not a directory: of another format, truncated, or over a limit. */
export class FormatError extends Error {
  override readonly name = "FormatError";
}

export type RowSplitter = {
  /** Reads the next bytes of the body and emits the rows that are complete. */
  readonly push: (chunk: Uint8Array) => void;
  /** Ends the body. Throws FormatError where that is inside a row, an array or an object. */
  readonly end: () => Envelope;
};

/** The other fields of an object that contains the rows; empty for the other forms. */
export type Envelope = { readonly [name: string]: unknown };

export type RowLimits = { readonly rowBytesMax: number; readonly rowsMax: number };

/** Receives the bytes of each row, or null for a row over `rowBytesMax`; the bytes are valid during the call only. */
export type RowTaker = (row: Uint8Array | null) => void;

const LINE_END = 0x0a;
const COMMA = 0x2c;
const [BRACKET_OPEN, BRACE_OPEN] = [0x5b, 0x7b];
const LISTINGS: ListKeys = { lists: new Set(["listings", "items", "data"]), row: "host" };

/**
 * Splits a body into rows as it arrives, with at most one row in memory: JSON lines, an array, or an object with an
 * array under one of the names in `keys`. Throws FormatError for anything else and above `rowsMax`.
 */
export function createRowSplitter(limits: RowLimits, takeRow: RowTaker, keys = LISTINGS): RowSplitter {
  let rows = 0;
  let mode: Mode | null = null;
  const take: RowTaker = (row) => {
    rows += 1;
    if (rows > limits.rowsMax) throw new FormatError(`more than ${limits.rowsMax} rows`);
    takeRow(row);
  };
  const begin = (first: number): Mode => {
    if (first === BRACKET_OPEN) return createArrayMode(limits, take, null);
    if (first === BRACE_OPEN) return createObjectMode(limits, take, keys);
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
      // A mode that ends passes the rest of the chunk to the next one.
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
const CONSUMED: Turn = { mode: null, rest: null };

function createLineMode(limits: RowLimits, take: RowTaker): Mode {
  const line = createRowBuffer(limits.rowBytesMax);
  const isBlank = (row: Uint8Array | null): boolean => row !== null && withoutLeadingSpace(row).length === 0;
  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
        line.add(chunk.subarray(start, end));
        const row = line.take();
        if (!isBlank(row)) take(row);
        start = end + 1;
      }
      line.add(chunk.subarray(start));
      return CONSUMED;
    },
    end() {
      const last = line.take();
      if (isBlank(last)) return {};
      // Only a complete JSON value shows that nothing but the line end is missing.
      if (last === null || !isJson(last)) throw new FormatError("the body ends inside a row");
      take(last);
      return {};
    },
  };
}

/** Creates the mode for an array, from its opening bracket on. `prefix` is the text before it in an object, or null. */
function createArrayMode(limits: RowLimits, take: RowTaker, prefix: string | null): Mode {
  const nesting = createNesting();
  const row = createRowBuffer(limits.rowBytesMax);
  let opened = false;
  const endRow = (last: Uint8Array, isFollowed: boolean): void => {
    row.add(last);
    const bytes = row.take();
    if (bytes === null || withoutLeadingSpace(bytes).length > 0) take(bytes);
    else if (isFollowed) throw new FormatError("an array with nothing between two commas");
  };
  return {
    push(chunk) {
      let start = 0;
      if (!opened) {
        nesting.step(chunk[0] ?? 0);
        opened = true;
        start = 1;
      }
      for (let at = start; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0;
        nesting.step(byte);
        if (nesting.depth === 0) {
          endRow(chunk.subarray(start, at), false);
          return { mode: createSuffixMode(limits, prefix), rest: chunk.subarray(at + 1) };
        }
        if (byte === COMMA && nesting.depth === 1 && !nesting.inString) {
          endRow(chunk.subarray(start, at), true);
          start = at + 1;
        }
      }
      row.add(chunk.subarray(start));
      return CONSUMED;
    },
    end() {
      throw new FormatError("the body ends inside the array");
    },
  };
}

/** Creates the mode for what follows the array: the rest of the object, or space alone. */
function createSuffixMode(limits: RowLimits, prefix: string | null): Mode {
  const suffix = createRowBuffer(limits.rowBytesMax);
  return {
    push(chunk) {
      suffix.add(chunk);
      return CONSUMED;
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
 * Creates the mode for a body that begins with a brace, until its form is known: an object with the rows where an
 * array under one of the names comes before a key of a row, else JSON lines.
 */
function createObjectMode(limits: RowLimits, take: RowTaker, listKeys: ListKeys): Mode {
  const seen = createRowBuffer(limits.rowBytesMax);
  const nesting = createNesting();
  const keys = createKeyReader(listKeys);
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
      return CONSUMED;
    },
    end: () => asLines(new Uint8Array()).mode?.end() ?? {},
  };
}
