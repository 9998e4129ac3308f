import type { ChunkingTask } from "./messages.ts";

/**
 * Items in a chunk. Fewer cost more messages; more delay the first bytes and leave a thread idle at the end. A batch of
 * 100,000 takes a seventh less time in chunks of 4,000 than in chunks of 1,000.
 */
const CHUNK_ITEMS_MIN = 1000;
const CHUNK_ITEMS_MAX = 4000;
/** Chunks of a batch for each thread: enough to keep all busy to the end. */
const CHUNKS_A_THREAD = 4;
/** However many threads there are. */
const CHUNKS_ENOUGH_MAX = 25;
/** Items of a batch that are verified before all of it is chunked: a thread is free for them unless others want it. */
const ITEMS_AHEAD_OF_CHUNKING = 32_000;

export type ChunkSizes = Pick<ChunkingTask, "chunksEnough" | "chunkItemsMin" | "chunkItemsMax">;

/** Returns the sizes of a batch's chunks, larger where there are fewer threads to keep busy. */
export function chunkSizes(threads: number): ChunkSizes {
  const chunksEnough = Math.min(CHUNKS_A_THREAD * threads, CHUNKS_ENOUGH_MAX);
  return { chunksEnough, chunkItemsMin: CHUNK_ITEMS_MIN, chunkItemsMax: CHUNK_ITEMS_MAX };
}

/** Returns how many chunks are in work at a time: those of a batch that is chunked as a whole, and those of all jobs. */
export function chunksAhead(threads: number): number {
  // One chunk in each thread, one waiting for each, and one whose domains are being looked up.
  return threads * 2 + 1;
}

/** Returns the same before all of it is chunked. */
export function chunksAheadOfChunking(threads: number, chunkItems: number): number {
  const ahead = Math.floor(ITEMS_AHEAD_OF_CHUNKING / Math.max(chunkItems, CHUNK_ITEMS_MIN));
  return Math.max(chunksAhead(threads), ahead);
}

/** Returns how many tasks of one batch may wait for a thread at a time: its chunks, and the chunking. */
export function waitingTasksMax(threads: number): number {
  return chunksAheadOfChunking(threads, CHUNK_ITEMS_MIN) + 1;
}
