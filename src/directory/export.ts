import { createGzip } from "node:zlib";
import { rowBytes, type SnapshotRows } from "./snapshot/snapshot.ts";
import type { ExportForm } from "./sync/syncer.ts";

const PART_BYTES = 256 * 1024;

/**
 * Yields the directory in parts of about 256 KiB, sorted by host: JSON lines or one JSON array. `createPart` may
 * reuse the memory of the part before, which the reader is done with.
 */
export function* exportParts(
  snapshot: SnapshotRows,
  form: ExportForm,
  createPart = (bytes: number) => new Uint8Array(bytes),
): Generator<Uint8Array<ArrayBuffer>> {
  const isArray = form === "json";
  const copyRow = createRowCopier(snapshot);
  let part = createPart(PART_BYTES);
  let used = 0;
  const put = (byte: number): void => {
    part[used] = byte;
    used += 1;
  };
  if (isArray) put(0x5b);
  for (let row = 0; row < snapshot.count; row++) {
    const length = snapshot.rowLength[row] ?? 0;
    if (used + length + 2 > part.length) {
      yield part.subarray(0, used);
      part = createPart(Math.max(PART_BYTES, length + 2));
      used = 0;
    }
    if (isArray && row > 0) put(0x2c);
    copyRow(row, part, used);
    used += length;
    if (!isArray) put(0x0a);
  }
  if (isArray) {
    if (used === part.length) {
      yield part;
      part = createPart(1);
      used = 0;
    }
    put(0x5d);
  }
  if (used > 0) yield part.subarray(0, used);
}

/** Returns the length of the export: the texts, their separators and brackets. */
export function exportBytes(snapshot: SnapshotRows, form: ExportForm): number {
  const { count, rowLength } = snapshot;
  let bytes = form === "json" ? Math.max(count, 1) + 1 : count;
  for (let row = 0; row < count; row++) bytes += rowLength[row] ?? 0;
  return bytes;
}

/** Creates a function that copies the text of a row: from memory, without a new view for each, or from the file. */
function createRowCopier(snapshot: SnapshotRows) {
  const { segments, rowSegment, rowOffset, rowLength } = snapshot;
  const seen: (Uint8Array | undefined)[] = [];
  const buffers: Buffer[] = [];
  return (row: number, target: Uint8Array, at: number): void => {
    const segment = rowSegment[row] ?? 0;
    const bytes = segments[segment];
    if (bytes === undefined || bytes.length === 0) {
      target.set(rowBytes(snapshot, row), at);
      return;
    }
    if (seen[segment] !== bytes) {
      seen[segment] = bytes;
      buffers[segment] = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
    }
    const offset = rowOffset[row] ?? 0;
    buffers[segment]?.copy(target, at, offset, offset + (rowLength[row] ?? 0));
  };
}

/** Returns the export as one gzip body. */
export async function compressedExport(
  snapshot: SnapshotRows,
  form: ExportForm,
): Promise<Uint8Array<ArrayBuffer>> {
  const gzip = createGzip();
  const parts: Uint8Array[] = [];
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  gzip.on("data", (part: Uint8Array) => parts.push(part));
  gzip.on("end", resolve);
  gzip.on("error", reject);
  // A failure is thrown at the end; until then it must not count as unhandled.
  ended.catch(() => undefined);
  const deflated = (part: Uint8Array) => new Promise((done) => gzip.write(part, done));
  let memory = new Uint8Array();
  const createPart = (bytes: number): Uint8Array<ArrayBuffer> => {
    if (memory.length < bytes) memory = new Uint8Array(bytes);
    return memory.subarray(0, bytes);
  };
  for (const part of exportParts(snapshot, form, createPart)) await deflated(part);
  gzip.end();
  await ended;
  return joined(parts);
}

/** Concatenates parts into memory of their own, which can be transferred to another thread. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
