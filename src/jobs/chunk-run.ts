import { BACKGROUND_WEIGHT, type Share } from "../batch/fair-queue.ts";
import type { VerifiedChunk } from "../batch/messages.ts";
import type { BatchRunner } from "../batch/runner.ts";
import type { Meter } from "../billing/meter.ts";
import type { Reservation } from "../billing/reservation.ts";
import { createSemaphore } from "../platform/semaphore.ts";
import type { ClaimedChunk, JobPort } from "../store/job-port.ts";
import { type AttemptPlan, attemptsAfter, planAttempt } from "./attempts.ts";
import type { ChunkFacts, ChunkGroup } from "./chunk-facts.ts";
import { type ChunkOutcome, HopelessChunkError } from "./chunk-outcome.ts";
import { type OpenedChunk, type OpenTask, type PackedResults, packedResults } from "./chunk-work.ts";
import { copied, countDistinct, storedChunk, type VerifiedRows } from "./claimed-rows.ts";
import { createGivenUpRows } from "./given-up-rows.ts";
import type { Job } from "./job.ts";
import type { JobPool } from "./thread-tasks.ts";

export type ChunkRunDependencies = {
  readonly store: Pick<JobPort, "resultBodies" | "keepUnchecked">;
  readonly pool: JobPool;
  readonly runner: Pick<BatchRunner, "verifyChunk">;
  readonly facts: ChunkFacts;
  readonly meter: Pick<Meter, "enter" | "reserve" | "unitsLeft">;
  readonly threads: number;
  /** Waits until a chunk may begin beside the calls. */
  readonly pace: (signal: AbortSignal) => Promise<void>;
};

/** What the charges of jobs are grouped by. */
const JOBS_ENDPOINT = "/v1/jobs";
type WorkOptions = {
  readonly share: Share;
  readonly signal: AbortSignal;
  /** Waits for a place among those whose results may be lost with the process. */
  readonly turn: () => Promise<void>;
  /** Gives that place back, and says that the work is safe from the end of the process. */
  readonly onCommit: () => void;
};

type RowsToOpen = { readonly rowsMax: number; readonly earlier: OpenTask["uncheckedIn"] };

/**
 * Verifies one claimed chunk: opens it in a thread, looks its domains up, verifies it, and charges for it in the
 * transaction that stores its results. Where the units of the account do not suffice for all of it, as many rows are
 * done as they pay for; where it has failed before, as many as its attempts leave. From the verifying to the commit there
 * is at most one chunk for each thread: that is the work which the end of the process costs. Throws what the store
 * throws, and a HopelessChunkError; the chunk is then still claimed.
 */
export function createChunkRun({ store, pool, runner, facts, meter, threads, pace }: ChunkRunDependencies) {
  const semaphore = createSemaphore(threads);
  const givenUp = createGivenUpRows({ pool, meter });
  /** Jobs with a chunk in work that not all units are left for, and its number: no later one is begun meanwhile. */
  const short = new Map<string, number>();

  return async (
    job: Job,
    claimed: ClaimedChunk,
    signal: AbortSignal,
    onCommit: () => void,
  ): Promise<ChunkOutcome> => {
    const { jobId } = job;
    const plan = planAttempt(claimed.attempt, claimed.rows);
    if (plan.act === "fail") throw new HopelessChunkError(`chunk ${claimed.n} of ${jobId}`);
    const isFirstChoice = plan.act === "verify" && plan.rowsMax === claimed.rows;
    if (job.round > 1 && !isFirstChoice) {
      // What stands is kept: the second look-up is more than was owed.
      await store.keepUnchecked({ jobId, n: claimed.n, attempt: claimed.attempt });
      return "finished";
    }
    let release = () => {};
    const turn = async () => {
      const leave = await semaphore.acquire(signal);
      release = leave;
      await pace(signal);
    };
    const share = { tenant: job.accountId, weight: BACKGROUND_WEIGHT };
    const committed = () => {
      release();
      onCommit();
    };
    const options = { share, signal, turn, onCommit: committed };
    try {
      return await verifyRows(job, claimed, plan, options);
    } finally {
      if (short.get(jobId) === claimed.n) short.delete(jobId);
      release();
    }
  };

  async function verifyRows(
    job: Job,
    claimed: ClaimedChunk,
    plan: Exclude<AttemptPlan, { act: "fail" }>,
    options: WorkOptions,
  ): Promise<ChunkOutcome> {
    const { jobId, unitsPerItem } = job;
    const replaces = job.round > 1;
    const earlier = replaces ? (await store.resultBodies(jobId, claimed.n)).map(copied) : null;
    const work =
      plan.act === "give_up_row"
        ? await givenUp.next(job, claimed, options)
        : await open(job, claimed, { ...plan, earlier }, options);
    if (work === "out_of_units") return work;
    const { rows, verified, reservation } = work;
    try {
      const packed = await pack(work, earlier, options);
      const charged = job.isTest ? 0 : verified.chargeable * unitsPerItem;
      const rowsDone = replaces ? claimed.rowsDone : claimed.rowsDone + rows.length;
      const isWhole = rowsDone === claimed.rows;
      const finished = {
        jobId,
        n: claimed.n,
        attempt: claimed.attempt,
        rowsDone,
        isWhole,
        attemptsAfter: attemptsAfter(claimed.attempt, claimed.rows),
        ...packed,
        replaces,
        units: charged,
        processed: rows.length - packed.unchecked,
      };
      const charge = { endpoint: JOBS_ENDPOINT, units: charged };
      await reservation.record(charge, null, finished, options.onCommit);
      if (isWhole) givenUp.forget(jobId, claimed.n);
      return "finished";
    } finally {
      reservation.release();
    }
  }

  async function pack(
    { rows, verified }: VerifiedRows,
    earlier: OpenTask["uncheckedIn"],
    options: WorkOptions,
  ): Promise<PackedResults> {
    const { bytes, plain, counts, failures } = verified;
    if (plain !== undefined && failures === 0 && earlier === null) return packedResults(verified, plain);
    const into = earlier === null ? null : { bodies: earlier, rows };
    const results = { bytes: copied(bytes), isCompressed: plain !== undefined, counts, into };
    return pool.runTwice("packJobResults", results, options);
  }

  /**
   * Holds the units of the rows and opens them. The units are held before anything is waited for: chunks of a job get
   * theirs in the order in which they are claimed, so that none is paid for behind one that is not.
   */
  async function open(
    job: Job,
    claimed: ClaimedChunk,
    { rowsMax, earlier }: RowsToOpen,
    options: WorkOptions,
  ): Promise<VerifiedRows | "out_of_units"> {
    const { jobId } = job;
    await meter.enter(job.accountId);
    const isFirst = earlier === null;
    const distinct = isFirst ? countDistinct(claimed, rowsMax) : claimed.rows;
    const paid = job.isTest
      ? distinct
      : Math.floor(meter.unitsLeft({ accountId: job.accountId }) / job.unitsPerItem);
    if (distinct > 0 && (paid === 0 || short.has(jobId))) return "out_of_units";
    if (isFirst && paid < distinct) short.set(jobId, claimed.n);
    const distinctMax = Math.min(paid, distinct);
    // Which rows of an earlier round are left is known when they are opened.
    let reservation = isFirst ? hold(job, distinctMax) : null;
    try {
      const group = facts.groupOf(job, options.signal);
      const task = { rowsMax, distinctMax, uncheckedIn: earlier, fromRow: claimed.rowsDone };
      const opened = await pool.runTwice(
        "openJobChunk",
        { ...storedChunk(job, claimed), ...task, numbering: group.name },
        options,
      );
      const found = group.find(opened);
      // The verifying meets a rejection, unless there are no units for it.
      found?.catch(() => undefined);
      const { chunk, rows } = opened;
      reservation ??= hold(job, chunk.count - chunk.duplicates.length);
      return { rows, verified: await verify(job, opened, found, options), reservation };
    } catch (error) {
      reservation?.release();
      throw error;
    }
  }

  /** Holds the units of that number of rows; throws `quota_exceeded`. */
  function hold({ accountId, isTest, unitsPerItem }: Job, rows: number): Reservation {
    return meter.reserve({ accountId }, isTest ? 0 : rows * unitsPerItem, { isCall: false });
  }

  async function verify(
    { kind, options: { country } }: Job,
    { chunk }: OpenedChunk,
    found: ReturnType<ChunkGroup["find"]>,
    { share, signal, turn }: WorkOptions,
  ): Promise<VerifiedChunk> {
    const options = { country, share, turn, separator: "\n", encoding: "zstd" } as const;
    const factsOf = () => found ?? Promise.reject(new Error("a chunk of a job without facts"));
    return runner.verifyChunk(kind, options, factsOf, signal)(chunk);
  }
}
