import type { Answer } from "../platform/answer.ts";
import type { ChunkClaim } from "./job-records.ts";

// What processes hold of a store that they share: chunks of jobs, inputs that are read, deliveries that are sent. Each is
// held by a process, never by the name of a node, until the end of its lease by the clock of the store.

export type LeasePort = {
  /** Renews the leases of what this process holds: these chunks, and the inputs of these jobs. */
  readonly renewLeases: (chunks: readonly ChunkClaim[], jobIds: readonly string[]) => Answer<void>;
  /** Puts back what a process holds: this one, whose end is nobody's fault, or a former one of this node, which died. */
  readonly releaseLeases: (processId: string | null) => Answer<void>;
  /** Returns the accounts of whose jobs any process holds a chunk. */
  readonly accountsInWork: () => Answer<readonly string[]>;
  /** Returns how many processes listen to the store now. */
  readonly countProcesses: () => Answer<number>;
};
