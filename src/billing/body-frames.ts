import { freeBytes } from "../platform/free-bytes.ts";
import { StorageError } from "../store/storage-error.ts";
import { createFrameDecryption, createFrameEncryption } from "./encryption.ts";

/** Writes a body in frames, each compressed and encrypted. */
export type BodyFrames = {
  /** Takes ownership of the bytes. Throws a StorageError where the body is too long. */
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** Writes what is left, and the end. */
  readonly finish: () => Promise<void>;
};

/** Where frames come from. */
export type FrameSource = {
  /** Returns exactly the next `count` bytes. */
  readonly take: (bytes: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

/** Bytes compressed and encrypted at a time: half a millisecond of work. */
const FRAME_BYTES = 131_072;
/** Each frame is preceded by its length in bytes; a length of 0 ends the body. */
const LENGTH_BYTES = 4;
/** The longest frame: incompressible bytes grow by a few. */
const FRAME_BYTES_MAX = FRAME_BYTES + 1_024;

/**
 * Creates the frames of one body. No two bodies may share a secret and a name. `write` is awaited before the next frame is
 * made, and has to let other work go on.
 */
export function createBodyFrames(options: {
  readonly secret: string;
  readonly name: string;
  readonly bodyBytesMax: number;
  readonly write: (bytes: Uint8Array) => Promise<void>;
}): BodyFrames {
  const { secret, name, bodyBytesMax, write } = options;
  const encryption = createFrameEncryption(secret, name);
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let bodyBytes = 0;

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
    },
  };
}

/** Reads a body as it was written. Its stream fails with a StorageError where the frames were changed or cut off. */
export function readFrames(secret: string, name: string, source: FrameSource): ReadableStream<Uint8Array> {
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

function lengthOf(bytes: number): Uint8Array {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes, 0);
  return length;
}
