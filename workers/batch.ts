import { setPriority } from "node:os";
import { createBodyChunker } from "../src/batch/body-chunker.ts";
import { createChunkVerifier } from "../src/batch/chunk-verifier.ts";
import { createChunkBodyTask, createVerifyChunkTask } from "../src/batch/thread-tasks.ts";
import {
  createGiveUpTask,
  createOpenTask,
  createPackTask,
  createRenderTask,
} from "../src/jobs/thread-tasks.ts";
import { createAddressParser } from "../src/verification/email/address.ts";

/** The tasks of a worker thread, by the names that the pool calls. */

yieldToRequests();

const verifier = createChunkVerifier();

export const chunkBody = createChunkBodyTask(createBodyChunker());
export const verifyChunk = createVerifyChunkTask(verifier.verify);
export const openJobChunk = createOpenTask(createAddressParser());
export const giveUpJobRows = createGiveUpTask(verifier.failed);
export const packJobResults = createPackTask();
export const renderJobResults = createRenderTask();
export const ping = () => "pong";

/**
 * A chunk can wait for a core, a single call on the main thread cannot. Linux keeps priorities by thread;
 * elsewhere the whole process would be slowed.
 */
function yieldToRequests(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, 5);
  } catch {
    // Not permitted: then the scheduler decides alone.
  }
}
