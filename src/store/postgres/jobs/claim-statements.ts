import { and, asc, desc, eq, gt, inArray, lt, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { RUNNING } from "../../job-rounds.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { LEASE_END } from "../connection/server-clock.ts";
import { jobChunks, jobInputs, jobs } from "../schema.ts";
import { JOB_COLUMNS } from "./job-rows.ts";

const CLAIMED_COLUMNS = {
  n: jobChunks.n,
  firstRow: jobChunks.firstRow,
  rows: jobChunks.rows,
  form: jobChunks.form,
  duplicates: jobChunks.duplicates,
  rowsDone: jobChunks.rowsDone,
  attempt: jobChunks.attempt,
};

const waiting = alias(jobChunks, "waiting");

/** Builds the claim of the first chunk that waits: one statement, so no lock is held while the server waits for this process. */
function firstChunkClaim(orm: Orm, isClaimable: SQL | undefined) {
  const first = orm
    .select({ n: waiting.n })
    .from(waiting)
    .innerJoin(jobs, eq(jobs.jobId, waiting.jobId))
    .innerJoin(jobInputs, and(eq(jobInputs.jobId, waiting.jobId), eq(jobInputs.n, waiting.n)))
    .where(and(eq(waiting.jobId, sql.placeholder("jobId")), sql`${waiting.state} = 'waiting'`, isClaimable))
    .orderBy(asc(waiting.n))
    .limit(1)
    .for("no key update", { of: waiting, skipLocked: true });
  return orm
    .update(jobChunks)
    .set({
      state: "claimed",
      attempt: sql`${jobChunks.attempt} + 1`,
      owner: sql`${sql.placeholder("processId")}::text`,
      leaseUntil: LEASE_END,
    })
    .from(jobs)
    .innerJoin(jobInputs, eq(jobInputs.jobId, jobs.jobId))
    .where(
      and(
        eq(jobChunks.jobId, sql.placeholder("jobId")),
        eq(jobChunks.n, sql`(${first})`),
        eq(jobs.jobId, jobChunks.jobId),
        eq(jobInputs.n, jobChunks.n),
      ),
    )
    .returning({ chunk: CLAIMED_COLUMNS, job: JOB_COLUMNS, body: jobInputs.body });
}

/** Claims the first chunk of a job that runs. */
export const nextChunkClaim = builtOnce((orm) =>
  firstChunkClaim(orm, inArray(jobs.status, [...RUNNING])).prepare("claim_chunk"),
);

/** Claims the first chunk of a paused job that waits before one that has results. */
export const gapChunkClaim = builtOnce((orm) => {
  const finished = alias(jobChunks, "finished");
  // Once for the job, not once for each chunk that waits: a large job has thousands.
  const last = orm
    .select({ n: finished.n })
    .from(finished)
    .where(and(eq(finished.jobId, sql.placeholder("jobId")), gt(finished.rowsDone, 0)))
    .orderBy(desc(finished.n))
    .limit(1);
  // In the second round chunks wait that have results.
  const isUnread = lt(waiting.rowsDone, waiting.rows);
  return firstChunkClaim(orm, and(eq(jobs.status, "paused"), isUnread, lt(waiting.n, last))).prepare(
    "claim_gap",
  );
});
