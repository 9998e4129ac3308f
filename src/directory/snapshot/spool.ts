import { closeSync, openSync, read, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The position of bytes in a file, which every thread of the process can read by its descriptor. */
export type SpoolPlace = { readonly descriptor: number; readonly position: number };

/** An append-only file without a name, which disappears with the process, however that ends. */
export type Spool = {
  /** Appends bytes and returns their place. The first call creates the file. Null where the disk refuses the bytes. */
  readonly write: (bytes: Uint8Array) => SpoolPlace | null;
  readonly isOpen: () => boolean;
  /** Closes the file, of which no place may be in use. */
  readonly close: () => void;
};

const SPOOL_NAME = "rows.tmp";

/**
 * Creates the file for the texts of former snapshots. One spool of a folder is opened at a time.
 *
 * The texts of 80,000 listings are 58 MB a snapshot. Two former ones kept in memory for their cursors would add 117
 * MB to the 309 to 335 MB of a server whose listings have all changed four times: over the limit of 400 MB.
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

const TRUNCATED = "the file of the listings' texts is cut short";

/** Reads bytes from `offset` bytes after the place on, synchronously. Throws where the file is truncated. */
export function fillFrom(bytes: Uint8Array, place: SpoolPlace, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    const got = readSync(place.descriptor, bytes, at, bytes.length - at, place.position + offset + at);
    if (got === 0) throw new Error(TRUNCATED);
    at += got;
  }
}

/** Reads bytes from `offset` bytes after the place on, asynchronously. Rejects where the file is truncated. */
export function readFrom(place: SpoolPlace, offset: number, length: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const bytes = new Uint8Array(length);
  read(place.descriptor, bytes, 0, length, place.position + offset, (error, got) => {
    if (error !== null) reject(error);
    else if (got !== length) reject(new Error(TRUNCATED));
    else resolve(bytes);
  });
  return promise;
}
