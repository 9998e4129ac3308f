import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { freeBytes } from "../platform/free-bytes.ts";
import { StorageError } from "../store/storage-error.ts";
import { createFrameDecryption, createFrameEncryption } from "./encryption.ts";

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

/** Bytes compressed and encrypted at a time: half a millisecond of work. */
const FRAME_BYTES = 131_072;

/** Each frame is preceded by its length in bytes; a length of 0 ends the file. */
const LENGTH_BYTES = 4;

/** The longest frame: incompressible bytes grow by a few. */
const FRAME_BYTES_MAX = FRAME_BYTES + 1_024;

/** Creates the file of a body. */
export async function growBody(options: {
  readonly directory: string;
  readonly path: string;
  readonly bodyBytesMax: number;
  readonly take: (bytes: number) => void;
  readonly secret: string;
  readonly name: string;
}): Promise<GrowingBody> {
  const { directory, path, bodyBytesMax, take, secret, name } = options;
  const partPath = path + PART;
  const file = await open(partPath, "wx", 0o600);
  const encryption = createFrameEncryption(secret, name);
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let bodyBytes = 0;
  let diskBytes = 0;
  let isClosed = false;

  async function close(): Promise<void> {
    if (isClosed) return;
    isClosed = true;
    await file.close();
  }

  async function write(bytes: Uint8Array): Promise<void> {
    take(bytes.byteLength);
    diskBytes += bytes.byteLength;
    await asStorage(() => writeAll(file, bytes));
  }

  async function writeFrames(minBytes: number): Promise<void> {
    if (waitingBytes < minBytes) return;
    const whole = Buffer.concat(waiting, waitingBytes);
    for (const piece of waiting) freeBytes(piece);
    let at = 0;
    for (; whole.byteLength - at >= minBytes && at < whole.byteLength; at += FRAME_BYTES) {
      const frame = encryption.encrypt(whole.subarray(at, at + FRAME_BYTES));
      await write(Buffer.concat([lengthOf(frame.byteLength), frame]));
    }
    waiting = at < whole.byteLength ? [new Uint8Array(whole.subarray(at))] : [];
    waitingBytes = Math.max(0, whole.byteLength - at);
    freeBytes(whole);
  }

  return {
    append: async (text) => {
      const piece = typeof text === "string" ? Buffer.from(text) : text;
      bodyBytes += piece.byteLength;
      if (bodyBytes > bodyBytesMax) throw new StorageError(`a kept reply is over ${bodyBytesMax} bytes`);
      waiting.push(piece);
      waitingBytes += piece.byteLength;
      await writeFrames(FRAME_BYTES);
    },
    finish: async () => {
      await writeFrames(1);
      await write(lengthOf(0));
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

/** Reads the bytes of a body's file. */
export function readBodyBytes(whole: Uint8Array, secret: string, name: string): ReadableStream<Uint8Array> {
  let at = 0;
  return readFrames(secret, name, {
    take: async (bytes) => {
      at += bytes;
      if (at > whole.byteLength) throw new Error("it is cut off");
      return whole.subarray(at - bytes, at);
    },
    close: async () => undefined,
  });
}

function readFrames(
  secret: string,
  name: string,
  source: {
    /** Returns exactly the next `count` bytes. */
    readonly take: (bytes: number) => Promise<Uint8Array>;
    readonly close: () => Promise<void>;
  },
): ReadableStream<Uint8Array> {
  const decryption = createFrameDecryption(secret, name);

  async function nextFrame(): Promise<Uint8Array | null> {
    const bytes = Buffer.from(await source.take(LENGTH_BYTES)).readUInt32BE(0);
    if (bytes === 0) return null;
    if (bytes > FRAME_BYTES_MAX) throw new Error("a kept reply was changed on disk");
    const piece = decryption.decrypt(await source.take(bytes));
    if (piece === null) throw new Error("a kept reply was changed on disk");
    return piece;
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await nextFrame();
          if (piece !== null) return controller.enqueue(piece);
          await source.close();
          controller.close();
        } catch (error) {
          await source.close().catch(() => undefined);
          controller.error(new StorageError(`a kept reply: ${String(error)}`, { cause: error }));
        }
      },
      cancel: source.close,
    },
    { highWaterMark: 0 },
  );
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

function lengthOf(bytes: number): Uint8Array {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes, 0);
  return length;
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
