import { closeSync, openSync, read, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Where bytes lie in a file that every thread of the process can read by its descriptor. */
export type SpoolPlace = { readonly descriptor: number; readonly position: number };

/** A file that is written once and has no name, so that nothing is left of it however the process ends. */
export type Spool = {
  /** Puts the bytes behind what was written; the first call makes the file. Null where the disk does not take them. */
  readonly write: (bytes: Uint8Array) => SpoolPlace | null;
  readonly isOpen: () => boolean;
  /** Gives the file up: only while nobody knows a place in it. */
  readonly close: () => void;
};

const SPOOL_NAME = "rows.tmp";

/**
 * Opens the file for the texts of former snapshots. One spool of a folder is opened at a time.
 *
 * The texts of 80,000 listings are 58 MB a snapshot. Two former ones kept in memory for their cursors would add 117 MB to
 * the 309 to 335 MB of a server whose listings have all changed four times: over the 400 MB that it may take.
 */
export function createSpool(folder: string): Spool {
  let descriptor: number | null = null;
  let position = 0;
  const open = (): number => {
    const path = join(folder, SPOOL_NAME);
    const opened = openSync(path, "w+", 0o600);
    try {
      unlinkSync(path);
    } catch (error) {
      closeSync(opened);
      throw error;
    }
    return opened;
  };
  const close = (): void => {
    if (descriptor !== null) closeSync(descriptor);
    descriptor = null;
  };
  return {
    write(bytes) {
      try {
        descriptor ??= open();
        for (let at = 0; at < bytes.length; ) {
          at += writeSync(descriptor, bytes, at, bytes.length - at, position + at);
        }
      } catch {
        if (position === 0) close();
        return null;
      }
      const place = { descriptor, position };
      position += bytes.length;
      return place;
    },
    isOpen: () => descriptor !== null,
    close,
  };
}

const CUT_SHORT = "the file of the listings' texts is cut short";

/** Fills the bytes from behind the place, holding up the thread. Throws where the file is cut short. */
export function fillFrom(bytes: Uint8Array, place: SpoolPlace, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    const got = readSync(place.descriptor, bytes, at, bytes.length - at, place.position + offset + at);
    if (got === 0) throw new Error(CUT_SHORT);
    at += got;
  }
}

/** Reads from behind the place without holding up the thread. Rejects where the file is cut short. */
export function readFrom(place: SpoolPlace, offset: number, length: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const bytes = new Uint8Array(length);
  read(place.descriptor, bytes, 0, length, place.position + offset, (error, got) => {
    if (error !== null) reject(error);
    else if (got !== length) reject(new Error(CUT_SHORT));
    else resolve(bytes);
  });
  return promise;
}
