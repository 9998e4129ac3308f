import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { rowBytes, type SnapshotRows } from "./snapshot.ts";
import type { ExportForm } from "./syncer.ts";

const PART_BYTES = 256 * 1024;

/** The whole directory in parts of about 256 KiB, by host: JSON lines or one JSON array. */
export function* exportParts(snapshot: SnapshotRows, form: ExportForm): Generator<Uint8Array<ArrayBuffer>> {
  const isArray = form === "json";
  let part = new Uint8Array(PART_BYTES);
  let used = 0;
  const put = (byte: number): void => {
    part[used] = byte;
    used += 1;
  };
  if (isArray) put(0x5b);
  for (let row = 0; row < snapshot.count; row++) {
    const bytes = rowBytes(snapshot, row);
    if (used + bytes.length + 2 > part.length) {
      yield part.subarray(0, used);
      part = new Uint8Array(Math.max(PART_BYTES, bytes.length + 2));
      used = 0;
    }
    if (isArray && row > 0) put(0x2c);
    part.set(bytes, used);
    used += bytes.length;
    if (!isArray) put(0x0a);
  }
  if (isArray) {
    if (used === part.length) {
      yield part;
      part = new Uint8Array(1);
      used = 0;
    }
    put(0x5d);
  }
  if (used > 0) yield part.subarray(0, used);
}

/** The export as one gzip body. */
export async function compressedExport(snapshot: SnapshotRows, form: ExportForm): Promise<Uint8Array> {
  const gzip = createGzip();
  pipeline(Readable.from(exportParts(snapshot, form)), gzip, () => {});
  const parts: Uint8Array[] = [];
  for await (const part of gzip) parts.push(part as Uint8Array);
  return Buffer.concat(parts);
}
