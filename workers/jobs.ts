import { threadId } from "node:worker_threads";
import { createChunkVerifier } from "../src/batch/chunk-verifier.ts";
import { createVerifyChunkTask } from "../src/batch/thread-tasks.ts";
import { createDomainNumberings } from "../src/jobs/chunks/domain-numberings.ts";
import { createRowSpacing } from "../src/jobs/chunks/row-spacing.ts";
import {
  createGiveUpTask,
  createOpenTask,
  createPackTask,
  createRenderTask,
} from "../src/jobs/thread-tasks.ts";
import { systemClock } from "../src/platform/clock.ts";
import { yieldThread } from "../src/platform/thread-priority.ts";
import { createAddressParser } from "../src/verification/email/address.ts";

/** The tasks of a thread of jobs, by the names that the pool calls. */

// A batch has a caller who waits, a job has none: beside a thread of batches that wants the same core, Linux gives this
// one a tenth of it, at any moment and not only between two chunks.
yieldThread(15);

const spaceRows = createRowSpacing({ clock: systemClock, wait: Bun.sleepSync });
const verifier = createChunkVerifier(({ gap }) => (gap ? spaceRows(gap) : null));

export const verifyChunk = createVerifyChunkTask(verifier.verify);
export const openJobChunk = createOpenTask(createDomainNumberings(createAddressParser(), threadId));
export const giveUpJobRows = createGiveUpTask(verifier.failed);
export const packJobResults = createPackTask();
export const renderJobResults = createRenderTask();
export const ping = () => "pong";
