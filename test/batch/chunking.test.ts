import { describe, expect, test } from "bun:test";
import { type ChunkedBody, startChunking } from "../../src/batch/chunking.ts";
import type { Chunk, ChunkingEvent, ChunkingOutcome } from "../../src/batch/messages.ts";

const HEAD: ChunkingEvent = { head: { count: 6, chunkCount: 3, options: { deep: true } } };

/** Two items each, at positions 0, 2 and 4. */
const CHUNKS: readonly Chunk[] = [0, 2, 4].map((position) => ({
  position,
  items: JSON.stringify([position, position + 1]),
  count: 2,
  duplicates: new Uint32Array(0),
  newDomains: "",
  domainNumbers: null,
}));

/** Chunking that does what the test says when it says so. */
function heldWork() {
  const outcome = Promise.withResolvers<ChunkingOutcome>();
  let onEvent: (event: ChunkingEvent) => void = () => undefined;
  return {
    work: (emitted: (event: ChunkingEvent) => void) => {
      onEvent = emitted;
      return outcome.promise;
    },
    emit: (...events: readonly ChunkingEvent[]) => {
      for (const event of events) onEvent(event);
    },
    ...outcome,
  };
}

async function chunkedBodyOf(outcome: ReturnType<typeof startChunking>): Promise<ChunkedBody> {
  const chunked = await outcome;
  if (!chunked.ok) throw new Error(chunked.message);
  return chunked;
}

const next = async (chunks: AsyncIterator<Chunk>) => (await chunks.next()).value?.position;

describe("a body that is being chunked", () => {
  test("is known by its head, and yields each chunk before the next is there", async () => {
    const { work, emit, resolve } = heldWork();
    const beginning = startChunking("email", work);
    emit(HEAD);
    const chunked = await chunkedBodyOf(beginning);
    expect([chunked.count, chunked.chunkCount, chunked.options]).toEqual([6, 3, { deep: true }]);
    const chunks = chunked.chunks[Symbol.asyncIterator]();
    for (const chunk of CHUNKS) {
      const coming = next(chunks);
      emit({ chunks: [chunk] });
      expect(await coming).toBe(chunk.position);
    }
    expect(chunked.hasEnded()).toBe(false);
    const end = chunks.next();
    resolve({ ok: true, distinct: 5 });
    expect(await chunked.ended).toEqual({ distinct: 5 });
    expect((await end).done).toBe(true);
    expect(chunked.hasEnded()).toBe(true);
  });

  test("that is begun anew half way yields no chunk twice", async () => {
    const { work, emit, resolve } = heldWork();
    const beginning = startChunking("email", work);
    emit(HEAD, { chunks: CHUNKS.slice(0, 2) });
    emit(HEAD, { chunks: CHUNKS.slice(0, 1) }, { chunks: CHUNKS.slice(1) });
    resolve({ ok: true, distinct: 6 });
    const chunked = await chunkedBodyOf(beginning);
    expect(await Array.fromAsync(chunked.chunks, ({ position }) => position)).toEqual([0, 2, 4]);
  });

  test("that fails half way fails behind the chunks that are there, and has no totals", async () => {
    const { work, emit, reject } = heldWork();
    const beginning = startChunking("email", work);
    emit(HEAD, { chunks: CHUNKS.slice(0, 1) });
    const chunked = await chunkedBodyOf(beginning);
    const chunks = chunked.chunks[Symbol.asyncIterator]();
    expect(await next(chunks)).toBe(0);
    const coming = chunks.next();
    reject(new Error("the thread is gone"));
    await expect(coming).rejects.toThrow("the thread is gone");
    await expect(chunked.ended).rejects.toThrow("the thread is gone");
  });

  test("is refused as the work refuses it, and fails where it fails before it is known", async () => {
    const refusal = { ok: false, code: "invalid_json", message: "no" } as const;
    expect(await startChunking("email", () => refusal)).toEqual(refusal);
    await expect(startChunking("email", () => Promise.reject(new Error("no thread")))).rejects.toThrow(
      "no thread",
    );
  });

  test("is whole at once where it is chunked on the spot", async () => {
    const chunked = await chunkedBodyOf(
      startChunking("email", (onEvent) => {
        onEvent(HEAD);
        onEvent({ chunks: CHUNKS });
        return { ok: true, distinct: 6 };
      }),
    );
    expect(await Array.fromAsync(chunked.chunks, ({ position }) => position)).toEqual([0, 2, 4]);
    expect(await chunked.ended).toEqual({ distinct: 6 });
  });
});
