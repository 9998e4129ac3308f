import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { bytesAt, copyText, type Place } from "../snapshot/shared-bytes.ts";

const BATCH_BYTES = 1024 * 1024;

/** Buffers small writes, so that a large file takes few system calls and leaves no garbage. */
export type BatchWriter = {
  readonly put: (piece: Uint8Array | string) => void;
  readonly putText: (place: Place) => void;
  /** Bytes written so far, buffered ones included. */
  readonly bytes: () => number;
  readonly flush: () => void;
};

/** Creates a writer to an open file; the caller flushes and closes it. */
export function createBatchWriter(descriptor: number): BatchWriter {
  const batch = Buffer.alloc(BATCH_BYTES);
  let used = 0;
  let flushed = 0;
  const flush = (): void => {
    for (let at = 0; at < used; ) at += writeSync(descriptor, batch, at, used - at);
    flushed += used;
    used = 0;
  };
  const putBytes = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.length; ) {
      if (used === batch.length) flush();
      const part = piece.subarray(at, at + batch.length - used);
      batch.set(part, used);
      used += part.length;
      at += part.length;
    }
  };
  return {
    put(piece) {
      if (typeof piece !== "string") return putBytes(piece);
      if (piece.length * 3 > batch.length) return putBytes(Buffer.from(piece));
      if (piece.length * 3 > batch.length - used) flush();
      used += batch.write(piece, used);
    },
    putText(place) {
      if (place.length > batch.length - used) flush();
      if (place.length > batch.length) putBytes(bytesAt(place));
      else used += copyText(place, batch, used);
    },
    bytes: () => flushed + used,
    flush,
  };
}

/**
 * Replaces a file atomically and durably: temporary file, fsync, rename, fsync of the folder. Returns its size.
 * Removes the temporary file on failure.
 */
export function writeDurably(path: string, fill: (writer: BatchWriter) => void): number {
  const temporary = `${path}.tmp`;
  const descriptor = openSync(temporary, "w", 0o600);
  const writer = createBatchWriter(descriptor);
  try {
    fill(writer);
    writer.flush();
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
  return writer.bytes();
}

/** Makes creations and renames in a folder durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
