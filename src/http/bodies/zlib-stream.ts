import { once } from "node:events";
import type { Transform } from "node:stream";
import type { Zlib } from "node:zlib";

/** A compressor or a decompressor of `node:zlib`: its work is done outside the main thread. */
export type ZlibTransform = Transform & Zlib;

/**
 * Yields what the transform makes of the parts, as fast as it is taken. Where the caller leaves, or the source or
 * the transform fails, the others end too. With `flush` (a kind of the transform) each part comes out whole
 * before the next goes in.
 */
export async function* throughZlib(
  source: AsyncIterable<Uint8Array>,
  transform: ZlibTransform,
  flush?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const closed = once(transform, "close").catch(() => undefined);
  const feed = async (): Promise<void> => {
    for await (const part of source) {
      if (transform.destroyed) return;
      if (!transform.write(part)) await Promise.race([once(transform, "drain"), closed]);
      if (flush !== undefined && !transform.destroyed) transform.flush(flush);
    }
    transform.end();
  };
  const fed = feed().catch((error: unknown) => {
    transform.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  try {
    for await (const part of transform) yield part;
  } finally {
    transform.destroy();
  }
  await fed;
}

/**
 * A stream of what the transform makes of another one, pulled by its reader. Where the reader leaves, the other one is
 * cancelled at once: a generator would end only between two parts, and not at all before its first.
 */
export function zlibStream(
  source: ReadableStream<Uint8Array>,
  transform: ZlibTransform,
  flush?: number,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const parts = throughZlib(partsOf(reader), transform, flush);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await reader.cancel();
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}

type PartReader = {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
};

async function* partsOf(reader: PartReader): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
