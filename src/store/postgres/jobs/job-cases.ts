import { and, asc, count, desc, eq, gt, inArray, isNull, lte, sql } from "drizzle-orm";
import type { Clock } from "../../../platform/clock.ts";
import { isBehind } from "../../conditions.ts";
import type { JobPort } from "../../job-port.ts";
import { type JobRecord, UNFINISHED } from "../../job-records.ts";
import { BROKEN_OFF } from "../../job-rounds.ts";
import type { Connection } from "../connection/connection.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "../connection/orm.ts";
import { jobs } from "../schema.ts";
import { eraseChunks } from "./chunk-erasure.ts";
import { type IntakeCases, intakeCases } from "./intake-cases.ts";
import { emitJobEvent, JOB_COLUMNS, jobsOf, LISTED_COLUMNS, lockJob, ofTenant, readJob } from "./job-rows.ts";
import { countUnchecked } from "./round-rows.ts";

type JobCases = IntakeCases & ChangeCases & ReadCases;

/** Jobs of a cluster, from their inputs to their end. `processId` is of this process alone. */
export function createJobCases(
  connection: Connection,
  processId: string,
  clock: Pick<Clock, "now">,
): JobCases {
  return {
    ...intakeCases(connection, processId),
    ...changeCases(connection, clock),
    ...readCases(connection),
  };
}

type ChangeCases = Pick<JobPort, "changeJob" | "eraseChunks" | "forgetJob" | "clearErased">;

function changeCases({ transact }: Connection, clock: Pick<Clock, "now">): ChangeCases {
  return {
    changeJob: (jobId, from, change, options) =>
      transact(async (orm) => {
        const before = await lockJob(orm, jobId);
        if (before === null || !from.includes(before.status)) return null;
        if (options !== undefined && options !== before.options) return null;
        const isEnd = change.status !== undefined && BROKEN_OFF.includes(change.status);
        if (isEnd && before.status !== change.status) await countUnchecked(orm, jobId);
        const [row] = await orm.update(jobs).set(change).where(eq(jobs.jobId, jobId)).returning(JOB_COLUMNS);
        if (row === undefined) return null;
        const after = readJob(row);
        if (after.status !== before.status) await emitJobEvent(orm, after, Math.floor(clock.now()));
        return after;
      }),

    eraseChunks: (jobId, limit) => transact((orm) => eraseChunks(orm, jobId, limit)),

    forgetJob: (jobId) =>
      transact(async (orm) => {
        await orm.delete(jobs).where(eq(jobs.jobId, jobId));
      }),

    // PostgreSQL's own vacuum takes what deleted rows held.
    clearErased: () => true,
  };
}

type ReadCases = Pick<
  JobPort,
  "findJob" | "jobPage" | "jobsIn" | "failedJobs" | "unfinishedJobs" | "countJobs" | "jobsToErase"
>;

function readCases({ read }: Connection): ReadCases {
  const find = async (orm: Orm, jobId: string): Promise<JobRecord | null> => {
    const [row] = await orm.select(JOB_COLUMNS).from(jobs).where(eq(jobs.jobId, jobId));
    return row === undefined ? null : readJob(row);
  };
  return {
    findJob: (jobId) => read((orm) => find(orm, jobId)),

    jobPage: ({ accountId, status, afterJobId, limit }) =>
      read(async (orm) => {
        const after = afterJobId === null ? null : await find(orm, afterJobId);
        if (afterJobId !== null && after?.accountId !== accountId) return null;
        const rest = isBehind(jobs, "jobId", after);
        const isWanted = status === null ? undefined : eq(jobs.status, status);
        const rows = await orm
          .select(LISTED_COLUMNS)
          .from(jobs)
          .where(and(ofTenant(accountId), isNull(jobs.deletedAt), isWanted, rest))
          .orderBy(desc(jobs.createdAt), desc(jobs.jobId))
          .limit(limit);
        return rows.map(readJob);
      }),

    jobsIn: (statuses) =>
      read(async (orm) => {
        const rows = await jobsInStatus(orm).execute({ statuses: arrayOf(statuses) });
        return rows.map(readJob);
      }),

    failedJobs: (after, limit) =>
      read(async (orm) => {
        const inOrder = sql`${jobs.jobId} collate "C"`;
        const rows = await orm
          .select({ jobId: jobs.jobId })
          .from(jobs)
          .where(and(eq(jobs.status, "failed"), isNull(jobs.erasedAt), gt(inOrder, after ?? "")))
          .orderBy(inOrder)
          .limit(limit);
        const jobIds = rows.map(({ jobId }) => jobId);
        return { jobIds, next: jobIds.length < limit ? null : (jobIds.at(-1) ?? null) };
      }),

    unfinishedJobs: () =>
      read((orm) =>
        orm
          .select({ status: jobs.status, statusReason: jobs.statusReason, jobs: count() })
          .from(jobs)
          .where(inArray(jobs.status, [...UNFINISHED]))
          .groupBy(jobs.status, jobs.statusReason),
      ),

    countJobs: (accountId, statuses) => read((orm) => jobsOf(orm, accountId, statuses)),

    jobsToErase: (now, limit) =>
      read(async (orm) => {
        const rows = await expiredJobs(orm).execute({ now, limit });
        return rows.map(readJob);
      }),
  };
}

// Asked for every second.
const jobsInStatus = builtOnce((orm) => {
  const { jobId, accountId, isTest, status, statusReason, startedAt, deletedAt, unitsPerItem, round } = jobs;
  return orm
    .select({ jobId, accountId, isTest, status, statusReason, startedAt, deletedAt, unitsPerItem, round })
    .from(jobs)
    .where(sql`${status} = ${listIn("statuses", "text")}`)
    .orderBy(asc(jobs.createdAt), asc(jobId))
    .prepare("jobs_in_status");
});

const expiredJobs = builtOnce((orm) =>
  orm
    .select(JOB_COLUMNS)
    .from(jobs)
    .where(and(isNull(jobs.erasedAt), lte(jobs.expiresAt, sql.placeholder("now"))))
    .limit(sql.placeholder("limit"))
    .prepare("expired_jobs"),
);
