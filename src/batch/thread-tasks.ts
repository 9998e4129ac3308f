import type { MessagePort } from "node:worker_threads";
import { freeBytes } from "../platform/free-bytes.ts";
import type { BodyChunker } from "./body-chunker.ts";
import { compressChunk } from "./compression.ts";
import type { ChunkingOutcome, ChunkingTask, VerifiedChunk, VerifyTask } from "./messages.ts";
import { transfer } from "./transfer.ts";

/** The tasks of a worker file, as the pool calls them. */

/** A task that emits events by a port, the last of them a null. */
export type Emitting<Task> = Task & { readonly port: MessagePort };

/** Creates the task that chunks a body: chunks are posted as they are made, then a null. */
export function createChunkBodyTask(
  chunkBody: BodyChunker,
): (task: Emitting<ChunkingTask>) => ChunkingOutcome {
  return ({ port, ...task }) => {
    const outcome = chunkBody(task, (event) => port.postMessage(event));
    port.postMessage(null);
    port.close();
    return outcome;
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
