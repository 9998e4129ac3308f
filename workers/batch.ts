import { setPriority } from "node:os";
import { createChunkJudge } from "../src/batch/chunk-verifier.ts";
import { createSplitBatch } from "../src/batch/split.ts";
import { createJudgeTask, createSplitTask } from "../src/batch/thread-tasks.ts";

/** The tasks of a worker thread, by the names that the pool calls. */

yieldToRequests();

export const split = createSplitTask(createSplitBatch());
export const judge = createJudgeTask(createChunkJudge().judge);
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
