import { createBodyChunker } from "../src/batch/body-chunker.ts";
import { createChunkVerifier } from "../src/batch/chunk-verifier.ts";
import { createChunkBodyTask, createVerifyChunkTask } from "../src/batch/thread-tasks.ts";
import { yieldThread } from "../src/platform/thread-priority.ts";

/** The tasks of a thread of batches, by the names that the pool calls. */

// A chunk can wait for a core, a single call on the main thread cannot.
yieldThread(5);

export const chunkBody = createChunkBodyTask(createBodyChunker());
export const verifyChunk = createVerifyChunkTask(createChunkVerifier().verify);
export const ping = () => "pong";
