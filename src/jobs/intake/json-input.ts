import { RECORD_BYTES_MAX, type Span } from "./records.ts";

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** Reads the bytes of a JSON body value by value; as much of it is held as one value takes. */
export function createJsonInput(pieces: AsyncIterable<Uint8Array>) {
  const source = pieces[Symbol.asyncIterator]();
  let bytes: Uint8Array = new Uint8Array(0);
  let at = 0;
  let ended = false;

  /** Appends the next piece to what is not read yet; false at the end. */
  async function more(): Promise<boolean> {
    const { done, value } = await source.next();
    if (done === true) {
      ended = true;
      return false;
    }
    bytes = at === bytes.byteLength ? value : Buffer.concat([bytes.subarray(at), value]);
    at = 0;
    return true;
  }

  return {
    /** Passes over white space and returns the byte that follows, -1 at the end. */
    async next(): Promise<number> {
      for (;;) {
        while (at < bytes.byteLength && isSpace(bytes[at] ?? 0)) at += 1;
        if (at < bytes.byteLength) return bytes[at] ?? -1;
        if (!(await more())) return -1;
      }
    },
    skip(): void {
      at += 1;
    },
    /** The bytes of the value that begins here; null where it is missing, incomplete or too long. */
    async value(): Promise<Span | null> {
      for (;;) {
        const end = valueEnd(bytes, at, ended);
        if (end > at) {
          const span = { bytes, start: at, end };
          at = end;
          return span;
        }
        if (end === at || bytes.byteLength - at > RECORD_BYTES_MAX) return null;
        await more();
      }
    },
    isTooLong: () => bytes.byteLength - at > RECORD_BYTES_MAX,
    hasEnded: () => ended,
  };
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The end of the value at `start`; `start` where none can begin or end there; -1 where more bytes must decide. */
function valueEnd(bytes: Uint8Array, start: number, isWhole: boolean): number {
  const first = bytes[start];
  const missing = isWhole ? start : -1;
  if (first === undefined) return missing;
  if (first === QUOTE) {
    const end = stringEnd(bytes, start);
    return end === -1 ? missing : end;
  }
  if (first !== OPEN_LIST && first !== OPEN_OBJECT) {
    for (let at = start; at < bytes.byteLength; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || isSpace(byte)) return at;
    }
    return isWhole ? bytes.byteLength : -1;
  }
  let depth = 0;
  for (let at = start; at < bytes.byteLength; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at);
      if (end === -1) return missing;
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return missing;
}

/** The place behind the closing quote of a string, or -1. */
function stringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.byteLength; at++) {
    const byte = bytes[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return -1;
}

/** Whether a value is a string without an escape or a control character: it is JSON as it stands. */
export function isPlainString({ bytes, start, end }: Span): boolean {
  if (bytes[start] !== QUOTE) return false;
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte < SPACE) return false;
  }
  return true;
}
