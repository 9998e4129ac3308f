import type { MessagePort } from "node:worker_threads";
import type { SplitEvent, SplitOutcome, SplitTask } from "./messages.ts";
import type { SplitBatch } from "./split.ts";

/** A task of a thread that tells of its work by a port, and ends with a null. */
export type Telling<Task> = Task & { readonly port: MessagePort };

/** Cuts bodies in a thread. */
export function createSplitTask(split: SplitBatch): (task: Telling<SplitTask>) => SplitOutcome {
  return ({ port, ...task }) => {
    const outcome = split(task, (event: SplitEvent) => port.postMessage(event));
    port.postMessage(null);
    port.close();
    return outcome;
  };
}
