import { and, asc, eq } from "drizzle-orm";
import type { Clock } from "../../../platform/clock.ts";
import { ClaimLostError, type JobPort } from "../../job-port.ts";
import type { ClaimedWork } from "../../job-records.ts";
import { BROKEN_OFF, endOfJob, RUNNING } from "../../job-rounds.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { hasEnded } from "../connection/server-clock.ts";
import { jobChunks, jobInputs, jobResults, jobs } from "../schema.ts";
import { addProgress, chunksFrom, isHeld, lapsedChunk, putBack } from "./chunk-rows.ts";
import { gapChunkClaim, nextChunkClaim } from "./claim-statements.ts";
import { emitJobEvent, JOB_COLUMNS, lockJob, readJob } from "./job-rows.ts";
import { countUnchecked, lockWaiting, requeueUnchecked, unfinishedChunks } from "./round-rows.ts";

type ChunkCases = Pick<
  JobPort,
  | "claimChunk"
  | "claimGap"
  | "releaseChunk"
  | "keepUnchecked"
  | "reapChunks"
  | "endRound"
  | "chunkResults"
  | "resultBodies"
  | "inputBody"
>;

/** The chunk ledger of a cluster, which all nodes claim from. `processId` is of this process alone. */
export function createChunkCases(
  connection: Connection,
  processId: string,
  clock: Pick<Clock, "now">,
): ChunkCases {
  return {
    ...claimCases(connection, processId, clock),
    ...resultCases(connection),
  };
}

type ClaimCases = Pick<
  ChunkCases,
  "claimChunk" | "claimGap" | "releaseChunk" | "keepUnchecked" | "reapChunks" | "endRound"
>;

function claimCases(
  { transact, transactAtOnce, read }: Connection,
  processId: string,
  clock: Pick<Clock, "now">,
): ClaimCases {
  /** Claims a chunk. A claim that is not answered lapses with its lease, and counts as an attempt. */
  async function claimFirst(claim: typeof nextChunkClaim, jobId: string): Promise<ClaimedWork | null> {
    const execute = (orm: Orm) => claim(orm).execute({ jobId, processId });
    const [found] = await (transactAtOnce === null
      ? transact(execute)
      : transactAtOnce(
          (_, orm) => execute(orm),
          async () => false,
        ));
    return found === undefined
      ? null
      : { chunk: { ...found.chunk, body: found.body }, job: readJob(found.job) };
  }

  return {
    claimChunk: (jobId) => claimFirst(nextChunkClaim, jobId),
    claimGap: (jobId) => claimFirst(gapChunkClaim, jobId),

    releaseChunk: (chunk, attempts) =>
      transact(async (orm) => {
        await putBack(orm, isHeld(chunk, processId), attempts);
      }),

    keepUnchecked: (chunk) =>
      transact(async (orm) => {
        const [found] = await orm
          .select({ unchecked: jobChunks.unchecked })
          .from(jobChunks)
          .where(isHeld(chunk, processId))
          .for("no key update");
        if (found === undefined)
          throw new ClaimLostError("a chunk was given up by one who no longer holds it");
        await orm
          .update(jobChunks)
          .set({ state: "done", attempt: 0, unchecked: 0, owner: null, leaseUntil: null })
          .where(isHeld(chunk, processId));
        const { unchecked } = found;
        const { jobId } = chunk;
        await addProgress(orm, { jobId, processed: unchecked, counts: { unknown: unchecked }, units: 0 });
      }),

    reapChunks: async () => {
      // Looked for every second: a transaction is begun only where there is something to put back.
      if ((await read((orm) => lapsedChunk(orm).execute())).length === 0) return 0;
      return transact((orm) => putBack(orm, hasEnded(jobChunks.leaseUntil), "counted"));
    },

    endRound: (jobId, ended) =>
      transact(async (orm) => {
        const job = await lockJob(orm, jobId);
        if (job === null) return { changed: null, isWaiting: false };
        // Chunks that were in work when the job failed are finished after it.
        if (BROKEN_OFF.includes(job.status)) await countUnchecked(orm, jobId);
        if (job.status === "cancelling") await lockWaiting(orm, jobId);
        const chunks = await unfinishedChunks(orm, jobId);
        const end = endOfJob(job, chunks, ended);
        if (end === null) {
          return { changed: null, isWaiting: chunks.waiting > 0 && RUNNING.includes(job.status) };
        }
        const isAgain = end.isFirstRound && (await requeueUnchecked(orm, jobId)) > 0;
        if (BROKEN_OFF.includes(end.change.status)) await countUnchecked(orm, jobId);
        const [row] = await orm
          .update(jobs)
          .set(isAgain ? { round: 2 } : end.change)
          .where(eq(jobs.jobId, jobId))
          .returning(JOB_COLUMNS);
        if (row === undefined) return { changed: null, isWaiting: false };
        const changed = readJob(row);
        if (!isAgain) await emitJobEvent(orm, changed, Math.floor(clock.now()));
        return { changed, isWaiting: isAgain };
      }),
  };
}

function resultCases({ read }: Connection): Pick<ChunkCases, "chunkResults" | "resultBodies" | "inputBody"> {
  return {
    chunkResults: (jobId, fromChunk, limit) => read((orm) => chunksFrom(orm, jobId, fromChunk, limit)),

    resultBodies: (jobId, n) =>
      read(async (orm) => {
        const rows = await orm
          .select({ body: jobResults.body })
          .from(jobResults)
          .where(and(eq(jobResults.jobId, jobId), eq(jobResults.n, n)))
          .orderBy(asc(jobResults.rowsDone));
        return rows.map(({ body }) => body);
      }),

    inputBody: (jobId, n) =>
      read(async (orm) => {
        const [row] = await orm
          .select({ body: jobInputs.body })
          .from(jobInputs)
          .where(and(eq(jobInputs.jobId, jobId), eq(jobInputs.n, n)));
        return row?.body ?? null;
      }),
  };
}
