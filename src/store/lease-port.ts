import type { Answer } from "../platform/answer.ts";
import type { ChunkClaim, JobRecord } from "./job-records.ts";

// What processes hold of a store that they share: chunks of jobs, inputs that are read, deliveries that are sent. Each is
// held by a process, never by the name of a node, until the end of its lease by the clock of the store.

export type AnnouncedJob = Pick<JobRecord, "accountId" | "jobId">;

export type LeasePort = {
  /** Renews the leases of what this process holds: these chunks, and the inputs of these jobs. */
  readonly renewLeases: (chunks: readonly ChunkClaim[], jobIds: readonly string[]) => Answer<void>;
  /** Puts back what a process holds: this one, whose end is nobody's fault, or a former one of this node, which died. */
  readonly releaseLeases: (processId: string | null) => Answer<void>;
  /** Returns the accounts of whose jobs any process holds a chunk. */
  readonly accountsInWork: () => Answer<readonly string[]>;
  /** Returns how many processes listen to the store now. */
  readonly countProcesses: () => Answer<number>;
  /** Announces to all processes a job that has more chunks than this one can hold. */
  readonly announceJob: (job: AnnouncedJob) => Answer<void>;
  /** Calls `onJob` for each job that is announced; returns what ends it. What is missed is found by `jobsIn`. */
  readonly listenForJobs: (onJob: (job: AnnouncedJob) => void) => () => void;
};
