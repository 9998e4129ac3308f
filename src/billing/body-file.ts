import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { StorageError } from "../store/storage-error.ts";
import { createBodyFrames, readFrames } from "./body-frames.ts";

/** Writes a body piece by piece, compressed and encrypted. */
export type GrowingBody = {
  /** Takes ownership of the bytes. */
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** Makes the file durable under its final name; returns its bytes on disk. */
  readonly finish: () => Promise<number>;
  /** Removes the unfinished file. */
  readonly discard: () => Promise<void>;
};

/** The suffix of a file that is still being written. */
export const PART = ".part";

/** Creates the file of a body. */
export async function growBody(options: {
  readonly directory: string;
  readonly path: string;
  readonly bodyBytesMax: number;
  readonly take: (bytes: number) => void;
  readonly secret: string;
  readonly name: string;
}): Promise<GrowingBody> {
  const { directory, path, take } = options;
  const partPath = path + PART;
  const file = await open(partPath, "wx", 0o600);
  let diskBytes = 0;
  let isClosed = false;
  const frames = createBodyFrames({
    ...options,
    write: async (bytes) => {
      take(bytes.byteLength);
      diskBytes += bytes.byteLength;
      await asStorage(() => writeAll(file, bytes));
    },
  });

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    await file.close();
  }

  return {
    append: frames.append,
    finish: async () => {
      await frames.finish();
      await asStorage(async () => {
        await file.sync();
        await close();
        await rename(partPath, path);
        // A new name is durable only once its directory is synced.
        const folder = await open(directory, "r");
        await folder.sync().finally(() => folder.close());
      });
      return diskBytes;
    },
    discard: () =>
      asStorage(async () => {
        await close();
        await rm(partPath, { force: true });
        await rm(path, { force: true });
      }),
  };
}

/** Opens the file with the first read, so that an unread body holds no file open. */
export function readBody(path: string, secret: string, name: string): ReadableStream<Uint8Array> {
  let file: FileHandle | undefined;
  return readFrames(secret, name, {
    take: async (bytes) => {
      file ??= await open(path, "r");
      return readExactly(file, bytes);
    },
    close: async () => file?.close(),
  });
}

async function readExactly(file: FileHandle, bytes: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await file.read(buffer, filled, bytes - filled, null);
    if (bytesRead === 0) throw new Error("the file is cut off");
    filled += bytesRead;
  }
  return buffer;
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  let written = 0;
  while (written < piece.byteLength) {
    written += (await file.write(piece, written)).bytesWritten;
  }
}

/** Rethrows failures as StorageError. */
export async function asStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StorageError(`a kept reply: ${String(error)}`, { cause: error });
  }
}
