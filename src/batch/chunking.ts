import { setImmediate as nextTurn } from "node:timers/promises";
import type { ChunkSource } from "./chunk-source.ts";
import type { BatchHead, BatchKind, BatchTotals, Chunk, ChunkingEvent, ChunkingOutcome } from "./messages.ts";

/** A batch body that is being chunked. */
export type ChunkedBody = BatchHead &
  ChunkSource & {
    /** Known when the last chunk is there. */
    readonly ended: Promise<BatchTotals>;
  };

/** A batch body that is being chunked, or its refusal. */
export type ChunkingStart = ({ readonly ok: true } & ChunkedBody) | Extract<ChunkingOutcome, { ok: false }>;

type Work = (onEvent: (event: ChunkingEvent) => void) => Promise<ChunkingOutcome> | ChunkingOutcome;

/**
 * Starts to chunk a body, and returns as soon as it is known what it is. Where the work begins anew, as after the end
 * of its thread, it emits the same events once more; those are passed over.
 */
export async function startChunking(kind: BatchKind, work: Work): Promise<ChunkingStart> {
  const receiver = createReceiver(kind);
  void follow(work, receiver);
  return await receiver.start;
}

async function follow(work: Work, { onEvent, end, fail }: Receiver): Promise<void> {
  try {
    end(await work(onEvent));
  } catch (error) {
    fail(error);
  }
}

type Receiver = ReturnType<typeof createReceiver>;

/** Knows nothing of the work, which holds the body: chunks are taken for as long as the reply is read. */
function createReceiver(kind: BatchKind) {
  const start = Promise.withResolvers<ChunkingStart>();
  const ended = Promise.withResolvers<BatchTotals>();
  // The reader of the chunks learns of a failure.
  ended.promise.catch(() => undefined);
  const waiting: Chunk[] = [];
  let itemsExpected: number | null = null;
  let itemsReceived = 0;
  let hasEnded = false;
  let arrival = Promise.withResolvers<void>();

  function onEvent(event: ChunkingEvent): void {
    if ("head" in event) {
      const { head } = event;
      itemsExpected = head.count;
      start.resolve({
        ok: true,
        ...head,
        kind,
        chunkItems: head.count / Math.max(head.chunkCount, 1),
        chunks: received(),
        ended: ended.promise,
        hasEnded: () => hasEnded,
      });
      return;
    }
    for (const chunk of event.chunks) {
      if (chunk.position !== itemsReceived) continue;
      waiting.push(chunk);
      itemsReceived += chunk.count;
    }
    arrival.resolve();
    arrival = Promise.withResolvers();
  }

  async function* received(): AsyncGenerator<Chunk, void, undefined> {
    for (;;) {
      for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
        yield chunk;
        // Each is some work for this thread: other calls get in between.
        if (waiting.length > 0) await nextTurn();
      }
      if (hasEnded) break;
      await arrival.promise;
    }
    await ended.promise;
  }

  function end(last: ChunkingOutcome): void {
    if (!last.ok) {
      start.resolve(last);
      fail(new Error(last.message));
    } else if (itemsReceived !== itemsExpected) {
      fail(new Error(`${itemsReceived} items of ${itemsExpected} were chunked`));
    } else {
      ended.resolve({ distinct: last.distinct });
      close();
    }
  }

  function fail(error: unknown): void {
    start.reject(error);
    ended.reject(error);
    close();
  }

  function close(): void {
    hasEnded = true;
    arrival.resolve();
  }

  return { start: start.promise, onEvent, end, fail };
}
