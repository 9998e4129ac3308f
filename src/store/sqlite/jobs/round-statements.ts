import { and, asc, count, eq, gt, gte, isNull, ne, sql, sum } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { FailedJobs } from "../../job-port.ts";
import type { UnfinishedChunks } from "../../job-rounds.ts";
import type { Orm } from "../connection/orm.ts";
import { jobChunks, jobs } from "../schema.ts";
import type { JobStatements } from "./job-statements.ts";

export type RoundStatements = ReturnType<typeof createRoundStatements>;

/** The order in which the index of the states holds the jobs of one. */
const PLACE = sql<number>`${jobs}.rowid`;

/** The chunks of a job where one of its rounds ends. */
export function createRoundStatements(orm: Orm, jobStatements: Pick<JobStatements, "addProgress">) {
  // A parameter would keep the database from the index of these chunks alone.
  const isUnfinished = sql`${jobChunks.state} <> 'done'`;
  const unfinished = madeOnce(() =>
    orm
      .select({ state: jobChunks.state, chunks: count() })
      .from(jobChunks)
      .where(and(eq(jobChunks.jobId, sql.placeholder("jobId")), isUnfinished))
      .groupBy(jobChunks.state)
      .prepare(),
  ).get;
  return {
    /** Failed jobs whose results are kept. */
    failed: (after: string | null, limit: number): FailedJobs => {
      const rows = orm
        .select({ jobId: jobs.jobId, place: PLACE })
        .from(jobs)
        .where(and(eq(jobs.status, "failed"), isNull(jobs.erasedAt), gt(PLACE, Number(after ?? 0))))
        .orderBy(asc(PLACE))
        .limit(limit)
        .all();
      const last = rows.length < limit ? undefined : rows.at(-1);
      return { jobIds: rows.map(({ jobId }) => jobId), next: last === undefined ? null : `${last.place}` };
    },

    unfinished: (jobId: string): UnfinishedChunks => {
      const states = unfinished().all({ jobId });
      const chunksIn = (state: string) => states.find((each) => each.state === state)?.chunks ?? 0;
      return { waiting: chunksIn("waiting"), claimed: chunksIn("claimed") };
    },

    requeueUnchecked: (jobId: string): number =>
      orm
        .update(jobChunks)
        .set({ state: "waiting" })
        .where(and(eq(jobChunks.jobId, jobId), eq(jobChunks.state, "done"), gte(jobChunks.unchecked, 1)))
        .returning({ n: jobChunks.n })
        .all().length,

    /**
     * Counts the rows whose look-up failed as unknown, where a job has ended and nobody looks them up again. Those of a
     * claimed chunk are left to its end.
     */
    countUnchecked: (jobId: string): void => {
      const isLeft = and(
        eq(jobChunks.jobId, jobId),
        ne(jobChunks.state, "claimed"),
        gte(jobChunks.unchecked, 1),
      );
      const found = orm
        .select({ rows: sum(jobChunks.unchecked) })
        .from(jobChunks)
        .where(isLeft)
        .get();
      const unchecked = Number(found?.rows ?? 0);
      if (unchecked === 0) return;
      orm.update(jobChunks).set({ unchecked: 0 }).where(isLeft).run();
      jobStatements.addProgress(jobId, { processed: unchecked, counts: { unknown: unchecked }, units: 0 });
    },
  };
}
