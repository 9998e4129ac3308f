import type { MessagePort } from "node:worker_threads";
import type { JudgeOutcome, JudgeTask, SplitOutcome, SplitTask } from "./messages.ts";
import type { SplitBatch } from "./split.ts";
import { handOver } from "./transfer.ts";

/** The tasks of a worker file, as the pool calls them. */

/** A task that tells of its work by a port, and ends with a null. */
export type Telling<Task> = Task & { readonly port: MessagePort };

export function createSplitTask(split: SplitBatch): (task: Telling<SplitTask>) => SplitOutcome {
  return ({ port, ...task }) => {
    const outcome = split(task, (event) => port.postMessage(event));
    port.postMessage(null);
    port.close();
    return outcome;
  };
}

/** The bytes of an outcome leave the thread; copying them would cost the memory of every batch twice. */
export function createJudgeTask(judge: (task: JudgeTask) => JudgeOutcome) {
  return (task: JudgeTask) => {
    const outcome = judge(task);
    return handOver(outcome, outcome.bytes.buffer);
  };
}
