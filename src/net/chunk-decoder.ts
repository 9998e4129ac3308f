import { OutgoingError } from "./failure.ts";

/** Decodes the chunked transfer coding (RFC 9112, 7.1). */
export type ChunkDecoder = {
  /** Takes the next bytes and returns the data in them. Throws OutgoingError (`bad_response`). */
  readonly push: (bytes: Uint8Array) => Uint8Array;
  /** Whether the last chunk and the trailer have been received. */
  readonly isDone: () => boolean;
};

type State = "size" | "extension" | "size_end" | "data" | "data_end" | "line_end" | "trailer" | "done";

const [TAB, LF, CR, SPACE, SEMICOLON] = [0x09, 0x0a, 0x0d, 0x20, 0x3b];
const SIZE_DIGITS_MAX = 8;
const TRAILER_BYTES_MAX = 16_384;
/** Framing bytes allowed (size lines with their extensions), beside eight for each byte of data. */
const LINES_BYTES_FREE = 65_536;
/** Below this a copy by hand is faster. */
const COPIED_BY_HAND_MAX = 16;

/** Creates a decoder that takes time in proportion to the bytes, however small the chunks. */
export function createChunkDecoder(): ChunkDecoder {
  let state: State = "size";
  let size = 0;
  let digits = 0;
  let dataBytes = 0;
  let lineBytes = 0;
  let trailerBytes = 0;
  let trailerLineBytes = 0;

  /** Takes one byte of the framing. */
  function step(byte: number): void {
    lineBytes += 1;
    if (lineBytes > LINES_BYTES_FREE + 8 * dataBytes) throw unreadable();
    switch (state) {
      case "size":
        takeDigit(byte);
        return;
      case "extension":
        if (byte === LF) endSize();
        return;
      case "size_end":
        if (byte !== LF) throw unreadable();
        endSize();
        return;
      case "data_end":
        if (byte === CR) state = "line_end";
        else if (byte === LF) state = "size";
        else throw unreadable();
        return;
      case "line_end":
        if (byte !== LF) throw unreadable();
        state = "size";
        return;
      default:
        takeTrailer(byte);
    }
  }

  function takeDigit(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1 && digits < SIZE_DIGITS_MAX) {
      size = size * 16 + digit;
      digits += 1;
      return;
    }
    if (digits === 0 || digit !== -1) throw unreadable();
    if (byte === LF) endSize();
    else if (byte === CR) state = "size_end";
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) state = "extension";
    else throw unreadable();
  }

  function endSize(): void {
    state = size === 0 ? "trailer" : "data";
    digits = 0;
  }

  function takeTrailer(byte: number): void {
    trailerBytes += 1;
    if (trailerBytes > TRAILER_BYTES_MAX) throw unreadable();
    if (byte === LF) {
      if (trailerLineBytes === 0) state = "done";
      trailerLineBytes = 0;
    } else if (byte !== CR) trailerLineBytes += 1;
  }

  /** Returns the data of bytes that are exactly one chunk, as in most streams; else null. */
  function oneChunk(bytes: Uint8Array): Uint8Array | null {
    let length = 0;
    let at = 0;
    for (; at < SIZE_DIGITS_MAX; at++) {
      const digit = hexDigit(bytes[at] ?? 0);
      if (digit === -1) break;
      length = length * 16 + digit;
    }
    const end = at + 2 + length;
    // With at least two bytes of data, the framing is within its bounds.
    const isOne = length > 1 && bytes.length === end + 2 && isLineEnd(bytes, at) && isLineEnd(bytes, end);
    return isOne ? bytes.subarray(at + 2, end) : null;
  }

  return {
    push(bytes) {
      const only = state === "size" && digits === 0 ? oneChunk(bytes) : null;
      if (only !== null) {
        dataBytes += only.length;
        lineBytes += bytes.length - only.length;
        return only;
      }
      // Usually the data is contiguous and needs no copy.
      let data = bytes;
      let start = 0;
      let filled = 0;
      for (let at = 0; at < bytes.length && state !== "done"; ) {
        if (state !== "data") {
          step(bytes[at] ?? 0);
          at += 1;
          continue;
        }
        const length = Math.min(size, bytes.length - at);
        if (filled === 0) start = at;
        else {
          if (data === bytes) data = copied(bytes, start, filled);
          copy(bytes, at, length, data, filled);
        }
        at += length;
        filled += length;
        dataBytes += length;
        size -= length;
        if (size === 0) state = "data_end";
      }
      return data === bytes ? bytes.subarray(start, start + filled) : data.subarray(0, filled);
    },
    isDone: () => state === "done",
  };
}

/** Returns a buffer for all bytes that starts with the data so far. */
function copied(bytes: Uint8Array, start: number, length: number): Uint8Array {
  const data = new Uint8Array(bytes.length);
  data.set(bytes.subarray(start, start + length));
  return data;
}

function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, offset: number): void {
  if (length > COPIED_BY_HAND_MAX) to.set(from.subarray(start, start + length), offset);
  else for (let at = 0; at < length; at++) to[offset + at] = from[start + at] ?? 0;
}

function isLineEnd(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function unreadable(): OutgoingError {
  return new OutgoingError("bad_response", "the chunks cannot be read");
}
