import type { VerifiedChunk, VerifyTask } from "../batch/messages.ts";
import type { Pool } from "../batch/pool.ts";
import type { TaskPool } from "../batch/task-pool.ts";
import { transfer } from "../batch/transfer.ts";
import {
  type GiveUpTask,
  giveUpRows,
  type OpenedChunk,
  type OpenTask,
  openChunk,
  type PackedResults,
  type PackTask,
  packResults,
} from "./chunks/chunk-work.ts";
import type { DomainNumberings } from "./chunks/domain-numberings.ts";
import { type RenderedResults, type RenderTask, renderResults } from "./results/result-rendering.ts";

/** The tasks of jobs in a worker thread, as the pool calls them. */

export type JobTasks = {
  readonly openJobChunk: { readonly task: OpenTask; readonly outcome: OpenedChunk; readonly event: never };
  readonly giveUpJobRows: {
    readonly task: GiveUpTask;
    readonly outcome: VerifiedChunk;
    readonly event: never;
  };
  readonly renderJobResults: {
    readonly task: RenderTask;
    readonly outcome: RenderedResults;
    readonly event: never;
  };
  readonly packJobResults: {
    readonly task: PackTask;
    readonly outcome: PackedResults;
    readonly event: never;
  };
};

/** Threads that do the tasks of batches and those of jobs. */
export type JobPool = Pool & TaskPool<JobTasks>;

export function createOpenTask(numberings: DomainNumberings): (task: OpenTask) => OpenedChunk {
  return (task) => openChunk(task, numberings);
}

export function createGiveUpTask(failed: (task: VerifyTask) => VerifiedChunk) {
  return (task: GiveUpTask): VerifiedChunk => giveUpRows(task, failed);
}

export function createPackTask() {
  return (task: PackTask) => {
    const packed = packResults(task);
    return transfer(packed, packed.body.buffer);
  };
}

export function createRenderTask() {
  return (task: RenderTask) => {
    const rendered = renderResults(task);
    return transfer(rendered, rendered.bytes.buffer);
  };
}
