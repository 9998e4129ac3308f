import type { Answer } from "../platform/answer.ts";

// Parts of uploads, kept where every process finds them. A part is whole or not there.

export type NewStoredPart = {
  readonly accountId: string;
  readonly jobId: string;
  readonly n: number;
  /** Of its frames. */
  readonly partId: string;
  readonly bytes: number;
};

export type PartCommit = "committed" | "changed" | "started";

export type PartPort = {
  /** Adds a compressed piece to a part that is being written. */
  readonly addPartFrame: (
    part: Pick<NewStoredPart, "jobId" | "partId">,
    frame: number,
    body: Uint8Array,
  ) => Answer<void>;
  /**
   * Puts a part in the place of the one that has its number. Writes nothing where the job has other options than these
   * (`changed`), is not being received, or has its input read already (`started`).
   */
  readonly commitPart: (part: NewStoredPart, options: string) => Answer<PartCommit>;
  readonly dropPart: (partId: string) => Answer<void>;
  /** The parts of a job that are whole, ascending. */
  readonly partsOf: (jobId: string) => Answer<readonly { readonly n: number; readonly bytes: number }[]>;
  /** Bytes of the parts of an account, and of all. */
  readonly partBytes: (accountId: string) => Answer<{ readonly account: number; readonly all: number }>;
  /** A compressed piece of a part; null behind its last one. */
  readonly partFrame: (jobId: string, n: number, frame: number) => Answer<Uint8Array | null>;
  readonly removeParts: (jobId: string) => Answer<void>;
  /** Removes pieces of parts that nobody completed. */
  readonly removeAbandonedFrames: (olderThanMs: number) => Answer<void>;
};
