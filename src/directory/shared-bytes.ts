/**
 * Memory that two threads read and none changes once it is filled: what crosses the border between the sync
 * thread and the main one costs nothing, however large it is.
 */

const SEGMENT_BYTES = 4 * 1024 * 1024;
const SCRATCH_BYTES = 64 * 1024;

/** A run of listing texts. `bytes` shrinks once, when the writer is done with it. */
export type Segment = { bytes: Uint8Array };

/** Where a text lies. */
export type Place = { readonly segment: Segment; readonly offset: number; readonly length: number };

export type SegmentWriter = {
  /** The text as bytes that are good until the next call. */
  readonly encode: (text: string) => Uint8Array;
  readonly write: (bytes: Uint8Array) => Place;
  /** Gives back the unused end of the last segment. */
  readonly finish: () => void;
};

export function createSegmentWriter(): SegmentWriter {
  let segment: Segment = { bytes: new Uint8Array() };
  let used = 0;
  const trim = (): void => {
    if (used === segment.bytes.length) return;
    const exact = sharedBytes(used);
    exact.set(segment.bytes.subarray(0, used));
    segment.bytes = exact;
  };
  const encoder = new TextEncoder();
  let scratch = new Uint8Array(SCRATCH_BYTES);
  return {
    encode(text) {
      if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 3);
      return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
    },
    write(bytes) {
      if (used + bytes.length > segment.bytes.length) {
        trim();
        segment = { bytes: sharedBytes(Math.max(SEGMENT_BYTES, bytes.length)) };
        used = 0;
      }
      segment.bytes.set(bytes, used);
      const place = { segment, offset: used, length: bytes.length };
      used += bytes.length;
      return place;
    },
    finish: trim,
  };
}

export function bytesAt(place: Place): Uint8Array {
  return place.segment.bytes.subarray(place.offset, place.offset + place.length);
}

export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

export function sharedIntegers(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}

export function sharedNumbers(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * 8));
}

/** Sorted texts in one block; text `n` ends at `ends[n]`. */
export type TextTable = { readonly bytes: Uint8Array; readonly ends: Uint32Array };

/** `texts` must be sorted by `<` where `findText` is to work. */
export function createTextTable(texts: readonly string[]): TextTable {
  const joined = Buffer.from(texts.join(""), "utf8");
  const bytes = sharedBytes(joined.length);
  bytes.set(joined);
  const ends = sharedIntegers(texts.length);
  let end = 0;
  for (let at = 0; at < texts.length; at++) {
    end += Buffer.byteLength(texts[at] ?? "", "utf8");
    ends[at] = end;
  }
  return { bytes, ends };
}

export function textAt(table: TextTable, at: number): string {
  const from = at === 0 ? 0 : (table.ends[at - 1] ?? 0);
  return Buffer.from(
    table.bytes.buffer,
    table.bytes.byteOffset + from,
    (table.ends[at] ?? 0) - from,
  ).toString();
}

/** The first position whose text is not less than the given one. */
export function lowerBound(table: TextTable, text: string): number {
  let low = 0;
  let high = table.ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (textAt(table, middle) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of a text, or -1. */
export function findText(table: TextTable, text: string): number {
  const at = lowerBound(table, text);
  return at < table.ends.length && textAt(table, at) === text ? at : -1;
}
