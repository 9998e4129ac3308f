import { setPriority } from "node:os";
import { move, transferableSymbol, valueSymbol } from "piscina";
import { createChunkJudge } from "../src/batch/chunk-judge.ts";
import type { JudgeOutcome, JudgeTask } from "../src/batch/messages.ts";
import { createSplitBatch } from "../src/batch/split.ts";
import { createSplitTask } from "../src/batch/thread-messages.ts";

/** The tasks of a worker thread, by the names that the pool calls. */

yieldToRequests();

const { judge: judgeChunk } = createChunkJudge();

export const split = createSplitTask(createSplitBatch());
export const judge = (task: JudgeTask) => handOver(judgeChunk(task));
export const ping = () => "pong";

/** The bytes of an outcome leave the thread; copying them would cost the memory of every batch twice. */
function handOver(outcome: JudgeOutcome) {
  return move({
    get [transferableSymbol]() {
      return [outcome.bytes.buffer];
    },
    get [valueSymbol]() {
      return outcome;
    },
  });
}

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
