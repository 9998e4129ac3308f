import { move, transferableSymbol, valueSymbol } from "piscina";
import { createChunkJudge } from "../src/batch/chunk-judge.ts";
import type { JudgeOutcome, JudgeTask } from "../src/batch/messages.ts";
import { splitBatch } from "../src/batch/split.ts";

/** The tasks of a worker thread, by the names that the pool calls. */

const { judge: judgeChunk } = createChunkJudge();

export const split = splitBatch;
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
