import { BACKGROUND_WEIGHT, type Share } from "../../batch/fair-queue.ts";
import type { VerifiedChunk } from "../../batch/messages.ts";
import type { BatchRunner } from "../../batch/runner.ts";
import type { Meter } from "../../billing/meter.ts";
import type { Reservation } from "../../billing/reservation.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import { createSemaphore } from "../../platform/semaphore.ts";
import type { JobPort } from "../../store/job-port.ts";
import type { ClaimedChunk } from "../../store/job-records.ts";
import type { Job } from "../job.ts";
import type { Pace } from "../pace.ts";
import type { JobPool } from "../thread-tasks.ts";
import { type AttemptPlan, attemptsAfter, planAttempt } from "./attempts.ts";
import type { ChunkFacts, ChunkGroup } from "./chunk-facts.ts";
import { type ChunkOutcome, HopelessChunkError } from "./chunk-outcome.ts";
import { packRows } from "./chunk-packing.ts";
import type { OpenedChunk, OpenTask } from "./chunk-work.ts";
import { copied, countDistinct, storedChunk, type VerifiedRows } from "./claimed-rows.ts";
import { createGivenUpRows } from "./given-up-rows.ts";

export type ChunkRunDependencies = {
  readonly store: Pick<JobPort, "resultBodies" | "keepUnchecked">;
  readonly pool: JobPool;
  readonly runner: Pick<BatchRunner, "verifyChunk">;
  readonly facts: ChunkFacts;
  readonly meter: Pick<Meter, "enter" | "reserve" | "unitsLeft">;
  readonly threads: number;
  /** Spaces out chunks and their rows beside calls; null where no call waits for the same database. */
  readonly pace: Pick<Pace, "turn" | "gap"> | null;
  /** For the commits of chunks. */
  readonly turns: FairTurns;
};

/** The endpoint that charges of jobs are recorded under. */
const JOBS_ENDPOINT = "/v1/jobs";
type WorkOptions = {
  readonly share: Share;
  readonly signal: AbortSignal;
  /** Waits for one of the places that bound the work which is lost when the process ends. */
  readonly turn: () => Promise<void>;
  /** Releases that place: the work survives the end of the process. */
  readonly onCommit: () => void;
};

/**
 * Verifies one claimed chunk: opens it in a thread, looks up its domains, verifies it, and charges for it in the
 * transaction that stores its results. It takes as many rows as the account's units pay for and, after failures, as
 * `planAttempt` allows. At most one chunk for each thread is between verification and commit, which bounds the work that
 * is lost when the process ends. Throws the errors of the store, and a HopelessChunkError; the claim then stays.
 */
export function createChunkRun(dependencies: ChunkRunDependencies) {
  const { store, pool, runner, facts, meter, threads, pace, turns } = dependencies;
  const semaphore = createSemaphore(threads);
  const givenUp = createGivenUpRows({ pool, meter });
  /** By job, the chunk in work for which the units do not suffice: no later chunk starts before it has ended. */
  const shortOfUnits = new Map<string, number>();
  /** The second look-up is a courtesy: the results of the first round are kept. */
  const keepUnchecked = async ({ jobId }: Job, { n, attempt }: ClaimedChunk) =>
    store.keepUnchecked({ jobId, n, attempt });

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
      await keepUnchecked(job, claimed);
      return "finished";
    }
    let release = () => {};
    const turn = async () => {
      release = await semaphore.acquire(signal);
      await pace?.turn(signal);
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
      if (shortOfUnits.get(jobId) === claimed.n) shortOfUnits.delete(jobId);
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
        : await open(job, claimed, { ...plan, uncheckedIn: earlier }, options);
    if (work === "out_of_units") return work;
    if (work === "kept") return "finished";
    const { rows, verified, reservation } = work;
    try {
      const packed = await packRows(pool, work, earlier, options);
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
      await turns.turnOf(job.accountId);
      await reservation.record({ endpoint: JOBS_ENDPOINT, units: charged }, null, finished, options.onCommit);
      if (isWhole) givenUp.forget(jobId, claimed.n);
      return "finished";
    } finally {
      reservation.release();
    }
  }

  /**
   * Reserves the units of the rows and opens them. Nothing is awaited between the look at the units and the reservation,
   * so that the chunks of a job are paid for in the order of their claims, without a gap. A second look-up that the units
   * do not pay for is left out.
   */
  async function open(
    job: Job,
    claimed: ClaimedChunk,
    { rowsMax, uncheckedIn }: Pick<OpenTask, "rowsMax" | "uncheckedIn">,
    options: WorkOptions,
  ): Promise<VerifiedRows | "out_of_units" | "kept"> {
    const { jobId } = job;
    await meter.enter(job.accountId);
    const isFirst = uncheckedIn === null;
    const distinct = isFirst ? countDistinct(claimed, rowsMax) : claimed.rows;
    const paid = job.isTest
      ? distinct
      : Math.floor(meter.unitsLeft({ accountId: job.accountId }) / job.unitsPerItem);
    if (distinct > 0 && (paid === 0 || shortOfUnits.has(jobId))) return "out_of_units";
    if (isFirst && paid < distinct) shortOfUnits.set(jobId, claimed.n);
    const distinctMax = Math.min(paid, distinct);
    // In the second round the rows are known only once the chunk is opened.
    let reservation = isFirst ? hold(job, distinctMax) : null;
    try {
      const group = facts.groupOf(job, options.signal);
      const task = { rowsMax, distinctMax, uncheckedIn, fromRow: claimed.rowsDone };
      const opened = await pool.runTwice(
        "openJobChunk",
        { ...storedChunk(job, claimed), ...task, numbering: group.name },
        options,
      );
      // Those behind a chunk that is left out need its domains, too; it keeps its place for them, as any that waits.
      const found = group.find(opened);
      const lookedUp = found?.catch(() => undefined);
      const { chunk, rows } = opened;
      if (!isFirst && chunk.count - chunk.duplicates.length > paid) {
        await lookedUp;
        await keepUnchecked(job, claimed);
        return "kept";
      }
      reservation ??= hold(job, chunk.count - chunk.duplicates.length);
      return { rows, verified: await verify(job, opened, found, options), reservation };
    } catch (error) {
      reservation?.release();
      throw error;
    }
  }

  /** Reserves the units of a number of rows; throws `quota_exceeded`. */
  function hold({ accountId, isTest, unitsPerItem }: Job, rows: number): Reservation {
    return meter.reserve({ accountId }, isTest ? 0 : rows * unitsPerItem, { isCall: false });
  }

  async function verify(
    { kind, options: { country } }: Job,
    { chunk }: OpenedChunk,
    found: ReturnType<ChunkGroup["find"]>,
    { share, signal, turn }: WorkOptions,
  ): Promise<VerifiedChunk> {
    const options = { country, share, turn, gap: pace?.gap, separator: "\n", encoding: "zstd" } as const;
    const factsOf = () => found ?? Promise.reject(new Error("a chunk of a job without facts"));
    return runner.verifyChunk(kind, options, factsOf, signal)(chunk);
  }
}
