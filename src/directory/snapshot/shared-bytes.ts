import { fillFrom, type Spool, type SpoolPlace } from "./spool.ts";

/**
 * Shared memory that no thread writes while another reads it. Passing it from the sync thread to the main one costs
 * nothing, whatever its size.
 */

export const SEGMENT_BYTES = 4 * 1024 * 1024;
const SCRATCH_BYTES = 64 * 1024;
const WINDOW_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** A run of listing texts: in memory, in a file, or in both. */
export type Segment = {
  /** Unique within one sync side. */
  readonly id: number;
  /** Empty while the texts are in the file alone. */
  bytes: Buffer<ArrayBufferLike>;
  length: number;
  file: SpoolPlace | null;
  /** The range that was last read from the file. */
  window: Window | null;
  /** The offset of `bytes`, which makes a segment the window on the whole of itself. */
  readonly from: 0;
};

/** The place of a text. */
export type Place = { readonly segment: Segment; readonly offset: number; readonly length: number };

export type SegmentWriter = {
  /** Encodes a text; the bytes are valid until the next call. */
  readonly encode: (text: string) => Uint8Array;
  readonly write: (bytes: Uint8Array) => Place;
  /** Must be called once after the last text. */
  readonly finish: () => void;
  /** Closes the file, where nobody will read what was written. */
  readonly discard: () => void;
};

/**
 * Writes texts into segments. With a spool, more than one segment goes to the file, and into memory only when it is
 * published, so that two whole directories are never in memory. Segments that the disk refuses stay in memory.
 */
export function createSegmentWriter(options: SegmentWriterOptions = {}): SegmentWriter {
  const { spool, nextId = countFrom(1) } = options;
  let segment: Segment | null = null;
  let buffer = NO_BYTES;
  const flush = (isLast: boolean): void => {
    if (segment === null) return;
    const used = buffer.subarray(0, segment.length);
    segment.file = spool === undefined || (isLast && !spool.isOpen()) ? null : spool.write(used);
    segment.bytes = segment.file === null ? Buffer.from(new SharedArrayBuffer(used.length)) : NO_BYTES;
    if (segment.file === null) segment.bytes.set(used);
    segment = null;
  };
  const encoder = new TextEncoder();
  let scratch = new Uint8Array(SCRATCH_BYTES);
  return {
    encode(text) {
      if (text.length * 3 > scratch.length) scratch = new Uint8Array(text.length * 3);
      return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
    },
    write(bytes) {
      if (segment !== null && segment.length + bytes.length > buffer.length) flush(false);
      if (segment === null) {
        const needed = Math.max(SEGMENT_BYTES, bytes.length);
        if (buffer.length < needed) buffer = Buffer.alloc(needed);
        segment = { id: nextId(), bytes: buffer, length: 0, file: null, window: null, from: 0 };
      }
      buffer.set(bytes, segment.length);
      const place = { segment, offset: segment.length, length: bytes.length };
      segment.length += bytes.length;
      return place;
    },
    finish() {
      flush(true);
      buffer = NO_BYTES;
    },
    discard() {
      spool?.close();
    },
  };
}

export type SegmentWriterOptions = { readonly spool?: Spool; readonly nextId?: () => number };

/** Returns a function that counts up from a number. */
export function countFrom(first: number): () => number {
  let next = first;
  return () => next++;
}

/** Returns the bytes of a text, valid until another text of its segment is read. */
export function bytesAt(place: Place): Uint8Array {
  const { bytes, from } = windowOn(place);
  return bytes.subarray(place.offset - from, place.offset - from + place.length);
}

/** Copies a text into a buffer with enough room, without leaving garbage, and returns its length. */
export function copyText(place: Place, target: Buffer, at: number): number {
  const { bytes, from } = windowOn(place);
  return bytes.copy(target, at, place.offset - from, place.offset - from + place.length);
}

/** Returns whether the text at a place is this one. */
export function hasText(place: Place, text: Uint8Array): boolean {
  if (place.length !== text.length) return false;
  const { bytes, from } = windowOn(place);
  const start = place.offset - from;
  return bytes.compare(text, 0, text.length, start, start + place.length) === 0;
}

/** Returns whether the texts at two places are the same. */
export function isSameText(a: Place, b: Place): boolean {
  if (a.length !== b.length) return false;
  if (a.segment === b.segment && a.offset === b.offset) return true;
  // A segment has one window, so the first text is copied.
  if (a.segment === b.segment) return Buffer.from(bytesAt(a)).equals(bytesAt(b));
  const first = windowOn(a);
  const second = windowOn(b);
  const start = a.offset - first.from;
  const otherStart = b.offset - second.from;
  return first.bytes.compare(second.bytes, otherStart, otherStart + b.length, start, start + a.length) === 0;
}

type Window = { readonly bytes: Buffer<ArrayBufferLike>; readonly from: number };

/** Returns a window on the segment that contains the text. */
function windowOn({ segment, offset, length }: Place): Window {
  const { file } = segment;
  if (segment.bytes.length > 0 || file === null) return segment;
  return windowAt(segment, file, offset, length);
}

/**
 * Reads a window from the file. It serves several texts, as these are mostly read in an order near that of the file.
 */
function windowAt(segment: Segment, file: SpoolPlace, offset: number, length: number): Window {
  const { window } = segment;
  if (window !== null && offset >= window.from && offset + length <= window.from + window.bytes.length) {
    return window;
  }
  const size = Math.min(Math.max(WINDOW_BYTES, length), segment.length - offset);
  const kept = window !== null && window.bytes.buffer.byteLength >= size ? window.bytes.buffer : null;
  const bytes = Buffer.from(kept ?? new ArrayBuffer(size), 0, size);
  // A failed read leaves the memory without any text.
  segment.window = null;
  fillFrom(bytes, file, offset);
  const filled = { bytes, from: offset };
  segment.window = filled;
  return filled;
}

/** Returns an array of integers in shared memory. */
export function sharedIntegers(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(length * 4));
}
