import { BACKGROUND_WEIGHT } from "../batch/fair-queue.ts";
import type { Chunk, VerifiedChunk } from "../batch/messages.ts";
import type { BatchRunner } from "../batch/runner.ts";
import type { Meter } from "../billing/meter.ts";
import type { ClaimedChunk } from "../store/job-port.ts";
import type { EmbeddedStore } from "../store/port.ts";
import type { OpenedChunk } from "./chunk-work.ts";
import { recordFormOf } from "./intake/records.ts";
import type { Job } from "./job.ts";
import type { JobPool } from "./thread-tasks.ts";

export type ChunkRunDependencies = {
  readonly store: Pick<EmbeddedStore, "resultBodies">;
  readonly pool: JobPool;
  readonly runner: BatchRunner;
  readonly meter: Pick<Meter, "reserve" | "unitsLeft">;
};

/** How the work on a chunk ended. */
export type ChunkOutcome = "finished" | "out_of_units";

/** What the charges of jobs are grouped by. */
export const JOBS_ENDPOINT = "/v1/jobs";

/**
 * Verifies one claimed chunk: opens it in a thread, looks its domains up, verifies it, and charges for it in the
 * transaction that stores its results. Where the units of the account do not suffice for all of it, as many rows are
 * done as they pay for. Throws what the store throws; the chunk is then still claimed.
 */
export function createChunkRun({ store, pool, runner, meter }: ChunkRunDependencies) {
  return async (job: Job, claimed: ClaimedChunk, signal: AbortSignal): Promise<ChunkOutcome> => {
    const { accountId, unitsPerItem, jobId } = job;
    const account = { accountId };
    const share = { tenant: accountId, weight: BACKGROUND_WEIGHT };
    const replaces = job.round > 1;
    const earlier = replaces ? store.resultBodies(jobId, claimed.n).map(copied) : null;
    const distinctMax = job.isTest ? claimed.rows : Math.floor(meter.unitsLeft(account) / unitsPerItem);
    if (distinctMax === 0) return "out_of_units";
    const opened = await pool.runTwice(
      "openJobChunk",
      {
        form: recordFormOf(claimed.form),
        body: copied(claimed.body),
        kind: job.kind,
        type: job.options.type,
        table: job.table,
        duplicates: claimed.duplicates,
        fromRow: claimed.rowsDone,
        distinctMax: Math.min(distinctMax, claimed.rows),
        uncheckedIn: earlier,
      },
      { share, signal },
    );
    const { chunk, rows } = opened;
    const units = (chunk.count - chunk.duplicates.length) * unitsPerItem;
    const reservation = meter.reserve(account, job.isTest ? 0 : units, { isCall: false });
    try {
      const verified = await verify(job, opened, { share, signal });
      const packed = await pool.runTwice(
        "packJobResults",
        {
          bytes: verified.bytes,
          counts: verified.counts,
          rows: chunk.count,
          into: earlier === null ? null : { bodies: earlier, rows },
        },
        { share, signal },
      );
      const charged = job.isTest ? 0 : verified.chargeable * unitsPerItem;
      const rowsDone = replaces ? claimed.rowsDone : claimed.rowsDone + chunk.count;
      await reservation.record({ endpoint: JOBS_ENDPOINT, units: charged }, null, {
        jobId,
        n: claimed.n,
        attempt: claimed.attempt,
        rowsDone,
        isWhole: rowsDone === claimed.rows,
        ...packed,
        replaces,
        units: charged,
        processed: chunk.count - packed.unchecked,
      });
      return "finished";
    } finally {
      reservation.release();
    }
  };

  async function verify(
    { kind, options }: Job,
    { chunk }: OpenedChunk,
    { share, signal }: { readonly share: { tenant: string; weight: number }; readonly signal: AbortSignal },
  ): Promise<VerifiedChunk> {
    const { deep, dns, country } = options;
    const source = { kind, chunkItems: chunk.count, ...single(chunk) };
    const results = runner.verify(source, { deep, dns, country, separator: "\n", share }, signal);
    for await (const verified of results) return verified;
    throw new Error("a chunk of a job came to nothing");
  }
}

/** A source of one chunk. */
function single(chunk: Chunk) {
  async function* chunks(): AsyncGenerator<Chunk, void, undefined> {
    yield chunk;
  }
  return { chunks: chunks(), ended: Promise.resolve(), hasEnded: () => true };
}

/** Bytes in a buffer of their own: what the database returns may be a view into a larger one. */
function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
