import { type RandomBytes, systemRandomBytes } from "../accounts/api-key.ts";
import { createRequestIds } from "../http/request-ids.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import type { Log } from "./log.ts";

/** What the process gets from the machine besides its settings. */
export type Platform = {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1; for jitter, never for secrets. */
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  readonly newRequestId: () => string;
  readonly workerFiles: WorkerFiles;
};

/** The worker files, as `new Worker` takes them. */
export type WorkerFiles = {
  readonly batch: string;
  readonly jobs: string;
  readonly directorySync: string;
  readonly jobIntake: string;
};

export const workerFiles: WorkerFiles = {
  batch: new URL("../../workers/batch.ts", import.meta.url).href,
  jobs: new URL("../../workers/jobs.ts", import.meta.url).href,
  directorySync: new URL("../../workers/directory-sync.ts", import.meta.url).href,
  jobIntake: new URL("../../workers/job-intake.ts", import.meta.url).href,
};

/** Returns the machine's own clock, randomness and files. */
export function systemPlatform(log: Log): Platform {
  return {
    clock: systemClock,
    log,
    random: Math.random,
    randomBytes: systemRandomBytes,
    newRequestId: createRequestIds(systemRandomBytes),
    workerFiles,
  };
}
