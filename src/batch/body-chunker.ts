import { createAddressParser } from "../verification/email/address.ts";
import { readItems } from "./body-items.ts";
import { createChunkMaker } from "./chunk-source.ts";
import { findDuplicates } from "./duplicates.ts";
import { ITEM_UNITS_MAX, type Items } from "./items.ts";
import type { Chunk, ChunkingEvent, ChunkingOutcome, ChunkingTask } from "./messages.ts";

/**
 * Reads a batch body and makes chunks of it: checks each item's type, marks duplicates and lists the mail domains
 * that are needed. Emits the chunks while it goes on, a few at first and then more at a time. Runs in a worker
 * thread, or inline for a small body. Never throws.
 */
export type BodyChunker = (task: ChunkingTask, emit: (event: ChunkingEvent) => void) => ChunkingOutcome;

/** Chunks that are emitted together at first; then twice as many each time, as each event costs its listener. */
const CHUNKS_EMITTED_FIRST = 2;
/** An event with this many of the largest chunks costs its listener under 2 ms. */
const CHUNKS_EMITTED_MAX = 8;

/** What is remembered from batch to batch only saves time. */
export function createBodyChunker(): BodyChunker {
  const parser = createAddressParser();
  return (task, emit) => {
    const read = readItems(task.kind, task.form, task.body, task.itemsMax, task.charset);
    if (!read.ok) return read;
    const { items, options } = read;
    const { count } = items;
    const ends = chunkEnds(items, task.chunkItemsMin, chunkItemsFor(count, task));
    emit({ head: { count, chunkCount: ends.length, options } });
    const duplicates = findDuplicates(items);
    const makeChunk = createChunkMaker(task.kind, parser);
    let chunks: Chunk[] = [];
    let emittedTogether = CHUNKS_EMITTED_FIRST;
    let start = 0;
    for (const end of ends) {
      chunks.push(makeChunk(items, { start, end, position: start }, duplicates.inRange(start, end)));
      start = end;
      if (chunks.length < emittedTogether) continue;
      emit({ chunks });
      chunks = [];
      emittedTogether = Math.min(emittedTogether * 2, CHUNKS_EMITTED_MAX);
    }
    if (chunks.length > 0) emit({ chunks });
    return { ok: true, distinct: duplicates.distinct() };
  };
}

/** A whole multiple of the least, so that groups of as many chunks have as many items. */
function chunkItemsFor(count: number, { chunksEnough, chunkItemsMin, chunkItemsMax }: ChunkingTask): number {
  const times = Math.round(Math.ceil(count / chunksEnough) / chunkItemsMin);
  return Math.min(Math.max(times, 1) * chunkItemsMin, chunkItemsMax);
}

/**
 * UTF-16 units in a chunk of more than one item: its text and its results cross threads in one piece, and receiving
 * them may not keep the main thread. Four thousand addresses of 60 characters are one chunk.
 */
const CHUNK_UNITS_MAX = 262_144;

/**
 * Returns the position behind the last item of each chunk. The first chunk is small: its results are there, compressed
 * where they are to be, before the rest of the body is chunked, and the reply waits for nothing else then.
 */
function chunkEnds(items: Items, firstChunkItems: number, chunkItems: number): readonly number[] {
  const ends: number[] = [];
  let itemsMax = firstChunkItems;
  let start = 0;
  let units = 0;
  for (let at = 0; at < items.count; at++) {
    const itemUnits = Math.min(items.end(at) - items.start(at), ITEM_UNITS_MAX);
    if (at > start && (at - start === itemsMax || units + itemUnits > CHUNK_UNITS_MAX)) {
      ends.push(at);
      start = at;
      units = 0;
      itemsMax = chunkItems;
    }
    units += itemUnits;
  }
  if (items.count > start) ends.push(items.count);
  return ends;
}
