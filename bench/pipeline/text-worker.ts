import { createChunkJudge } from "../../src/batch/chunk-verifier.ts";
import type { JudgeTask } from "../../src/batch/messages.ts";
import { createSplitBatch } from "../../src/batch/split.ts";
import { createSplitTask } from "../../src/batch/thread-tasks.ts";

/** Results go back as text that is copied, for comparison with bytes that change hands. */

const { judge: judgeChunk } = createChunkJudge();
const decoder = new TextDecoder();

export const split = createSplitTask(createSplitBatch());
export const judge = (task: JudgeTask) => {
  const { bytes, ...outcome } = judgeChunk(task);
  return { ...outcome, text: decoder.decode(bytes) };
};
