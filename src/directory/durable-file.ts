import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Writes a file so that after a crash there is either the old one or the whole new one: temporary file, fsync,
 * rename, fsync of the folder.
 */
export function writeDurably(path: string, parts: Iterable<Uint8Array>): void {
  const temporary = `${path}.tmp`;
  const descriptor = openSync(temporary, "w");
  try {
    for (const part of parts) writeAll(descriptor, part);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** A write may take less than it is given. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

/** Makes created and renamed names of a folder durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
