import type { MessagePort } from "node:worker_threads";
import { freeBytes } from "../platform/free-bytes.ts";
import type { BodyChunker } from "./body-chunker.ts";
import { compressChunk } from "./compression.ts";
import type { ChunkingEvent, ChunkingOutcome, ChunkingTask, VerifiedChunk, VerifyTask } from "./messages.ts";
import { transfer } from "./transfer.ts";

/** The tasks of a worker file, as the pool calls them. */

/** A task that emits events by a port, the last of them a null, or returns them where it has none. */
export type Emitting<Task> = Task & { readonly port: MessagePort | null };

/** The outcome of such a task, and the events that no port has taken. */
export type Emitted<Outcome, Event> = { readonly outcome: Outcome; readonly events: readonly Event[] };

/** Creates the task that chunks a body: chunks are posted as they are made. */
export function createChunkBodyTask(
  chunkBody: BodyChunker,
): (task: Emitting<ChunkingTask>) => Emitted<ChunkingOutcome, ChunkingEvent> {
  return ({ port, ...task }) => {
    const events: ChunkingEvent[] = [];
    const emit =
      port === null
        ? (event: ChunkingEvent) => events.push(event)
        : (event: ChunkingEvent) => port.postMessage(event);
    const outcome = chunkBody(task, emit);
    port?.postMessage(null);
    port?.close();
    return { outcome, events };
  };
}

/** The bytes of an outcome leave the thread; copying them would cost the memory of every batch twice. */
export function createVerifyChunkTask(verify: (task: VerifyTask) => VerifiedChunk) {
  return (task: VerifyTask) => {
    const plain = verify(task);
    const outcome = task.encoding ? compressChunk(plain, task.encoding) : plain;
    if (outcome !== plain) freeBytes(plain.bytes);
    return transfer(outcome, outcome.bytes.buffer);
  };
}
