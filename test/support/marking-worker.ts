import { appendFileSync } from "node:fs";
import type { VerifyTask } from "../../src/batch/messages.ts";
import * as well from "../../workers/jobs.ts";

// The worker of jobs, which writes down how many rows it begins to verify: a line for each chunk.

export const { giveUpJobRows, openJobChunk, packJobResults, ping, renderJobResults } = well;

export function verifyChunk(task: VerifyTask) {
  appendFileSync(process.env.TEST_MARKS_FILE ?? "", `${task.count}\n`);
  return well.verifyChunk(task);
}
