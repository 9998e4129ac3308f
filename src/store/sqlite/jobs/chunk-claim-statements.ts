import { and, asc, eq, gt, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { ChunkClaim, ClaimedChunk, FinishedChunk } from "../../job-records.ts";
import type { Orm } from "../connection/orm.ts";
import { jobChunks, jobResults } from "../schema.ts";
import type { JobProgress } from "./job-statements.ts";

type Jobs = { readonly addProgress: (jobId: string, progress: JobProgress) => void };
type Chunks = { readonly inputBody: (jobId: string, n: number) => Uint8Array | null };

export type ChunkClaimStatements = ReturnType<typeof createChunkClaimStatements>;

/** The chunk ledger as the queue of jobs: chunks are claimed, and released or finished by who holds them. */
export function createChunkClaimStatements(orm: Orm, jobStatements: Jobs, chunks: Chunks) {
  const thisChunk = and(eq(jobChunks.jobId, sql.placeholder("jobId")), eq(jobChunks.n, sql.placeholder("n")));
  // A parameter would keep the database from the index of these chunks alone.
  const isWaiting = sql`${jobChunks.state} = 'waiting'`;
  const firstWaiting = madeOnce(() =>
    orm
      .select()
      .from(jobChunks)
      .where(and(eq(jobChunks.jobId, sql.placeholder("jobId")), isWaiting))
      .orderBy(asc(jobChunks.n))
      .limit(1)
      .prepare(),
  ).get;
  const behindFirstWaiting = madeOnce(() =>
    orm
      .select({ n: jobChunks.n })
      .from(jobChunks)
      .where(
        and(
          eq(jobChunks.jobId, sql.placeholder("jobId")),
          gt(jobChunks.n, sql.placeholder("n")),
          gt(jobChunks.rowsDone, 0),
        ),
      )
      .limit(1)
      .prepare(),
  ).get;
  const claim = madeOnce(() =>
    orm
      .update(jobChunks)
      .set({ state: "claimed", attempt: sql`${jobChunks.attempt} + 1` })
      .where(thisChunk)
      .prepare(),
  ).get;
  const finish = madeOnce(() =>
    orm
      .update(jobChunks)
      .set({
        state: sql`${sql.placeholder("state")}`,
        attempt: sql`${sql.placeholder("attempts")}`,
        rowsDone: sql`${sql.placeholder("rowsDone")}`,
        unchecked: sql`${jobChunks.unchecked} * ${sql.placeholder("keeps")} + ${sql.placeholder("unchecked")}`,
        units: sql`${jobChunks.units} + ${sql.placeholder("units")}`,
        lineBytes: sql`${jobChunks.lineBytes} * ${sql.placeholder("keeps")} + ${sql.placeholder("lineBytes")}`,
      })
      .where(
        and(
          thisChunk,
          eq(jobChunks.attempt, sql.placeholder("attempt")),
          sql`${jobChunks.state} = 'claimed'`,
        ),
      )
      .returning({ n: jobChunks.n })
      .prepare(),
  ).get;
  const insertResult = madeOnce(() =>
    orm
      .insert(jobResults)
      .values({
        jobId: sql.placeholder("jobId"),
        n: sql.placeholder("n"),
        rowsDone: sql.placeholder("rowsDone"),
        body: sql.placeholder("body"),
      })
      .prepare(),
  ).get;
  const claimedBy = (jobId: string, n: number, attempt: number) =>
    and(
      eq(jobChunks.jobId, jobId),
      eq(jobChunks.n, n),
      eq(jobChunks.attempt, attempt),
      eq(jobChunks.state, "claimed"),
    );

  return {
    claim: (jobId: string): ClaimedChunk | null => {
      const found = firstWaiting().get({ jobId });
      if (found === undefined) return null;
      const { n, firstRow, rows, form, duplicates, rowsDone, attempt } = found;
      claim().run({ jobId, n });
      const body = chunks.inputBody(jobId, n);
      if (body === null) throw new Error("a chunk of a job has no input");
      return { n, firstRow, rows, form, duplicates, rowsDone, attempt: attempt + 1, body };
    },

    /** Whether a chunk that waits for its results stands before one that has some; in the second round all have. */
    hasGap: (jobId: string): boolean => {
      const first = firstWaiting().get({ jobId });
      if (first === undefined || first.rowsDone === first.rows) return false;
      return behindFirstWaiting().get({ jobId, n: first.n }) !== undefined;
    },

    release: ({ jobId, n, attempt }: ChunkClaim, attempts: number): void => {
      orm
        .update(jobChunks)
        .set({ state: "waiting", attempt: attempts })
        .where(claimedBy(jobId, n, attempt))
        .run();
    },

    keepUnchecked: ({ jobId, n, attempt }: ChunkClaim): void => {
      const found = orm
        .select({ unchecked: jobChunks.unchecked })
        .from(jobChunks)
        .where(claimedBy(jobId, n, attempt))
        .get();
      if (found === undefined) throw new Error("a chunk was given up by one who no longer holds it");
      orm
        .update(jobChunks)
        .set({ state: "done", attempt: 0, unchecked: 0 })
        .where(claimedBy(jobId, n, attempt))
        .run();
      const { unchecked } = found;
      jobStatements.addProgress(jobId, { processed: unchecked, counts: { unknown: unchecked }, units: 0 });
    },

    reap: (): number =>
      orm
        .update(jobChunks)
        .set({ state: "waiting" })
        .where(eq(jobChunks.state, "claimed"))
        .returning({ n: jobChunks.n })
        .all().length,

    /** Writes the outcome of a claimed chunk. Throws where somebody else has claimed it since. */
    finish: (finished: FinishedChunk): void => {
      const { jobId, n, attempt, rowsDone, isWhole, body, units, unchecked, lineBytes } = finished;
      const changed = finish().all({
        jobId,
        n,
        attempt,
        rowsDone,
        unchecked,
        units,
        lineBytes,
        state: isWhole ? "done" : "waiting",
        attempts: isWhole ? 0 : finished.attemptsAfter,
        keeps: finished.replaces ? 0 : 1,
      });
      if (changed.length !== 1) throw new Error("a chunk was finished by one who no longer holds it");
      if (finished.replaces) {
        orm
          .delete(jobResults)
          .where(and(eq(jobResults.jobId, jobId), eq(jobResults.n, n)))
          .run();
      }
      insertResult().run({
        jobId,
        n,
        rowsDone,
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      });
      jobStatements.addProgress(jobId, finished);
    },
  };
}
