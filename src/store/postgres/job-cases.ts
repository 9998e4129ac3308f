import { and, asc, count, desc, eq, inArray, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import { ownerOf } from "../../platform/test-tenant.ts";
import { type JobPort, type JobRecord, type JobStatus, UNFINISHED } from "../job-port.ts";
import { StorageError } from "../storage-error.ts";
import { lockAccounts, putReply, SERVER_NOW } from "./account-rows.ts";
import type { Connection } from "./connection.ts";
import { emitJobEvent, JOB_COLUMNS, LEASE_END, lockJob, ofTenant, readJob } from "./job-rows.ts";
import type { Orm } from "./orm.ts";
import { jobChunks, jobInputs, jobResults, jobs } from "./schema.ts";

type JobCases = Pick<
  JobPort,
  | "createJob"
  | "claimInput"
  | "releaseInput"
  | "unreadJobs"
  | "addJobChunks"
  | "markDuplicates"
  | "changeJob"
  | "startJob"
  | "findJob"
  | "jobPage"
  | "jobsIn"
  | "unfinishedJobs"
  | "countJobs"
  | "jobsToErase"
  | "eraseChunks"
  | "forgetJob"
>;

/** A job that was created is read within this time. */
const UNREAD_MS = 60_000;

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

type IntakeCases = Pick<
  JobCases,
  "createJob" | "claimInput" | "releaseInput" | "unreadJobs" | "addJobChunks" | "markDuplicates" | "startJob"
>;

function intakeCases({ transact, read }: Connection, processId: string): IntakeCases {
  const isReceiving = (jobId: string) =>
    and(eq(jobs.jobId, jobId), eq(jobs.status, "receiving"), isNull(jobs.deletedAt));
  const isReadHere = (jobId: string) => and(isReceiving(jobId), eq(jobs.reader, processId));

  /** Another process may have taken the input over while this one hung. */
  async function requireReader(orm: Orm, jobId: string): Promise<void> {
    const rows = await orm
      .select({ jobId: jobs.jobId })
      .from(jobs)
      .where(isReadHere(jobId))
      .for("no key update");
    if (rows.length === 0) throw new StorageError("the input of the job is no longer read by this node");
  }

  return {
    createJob: (job, reply, unfinishedMax) =>
      transact(async (orm) => {
        const accountId = ownerOf(job.accountId);
        await lockAccounts(orm, [accountId]);
        if ((await jobsOf(orm, job.accountId, UNFINISHED)) >= unfinishedMax) return false;
        await orm.insert(jobs).values({ ...job, accountId });
        await putReply(orm, reply);
        return true;
      }),

    claimInput: (jobId) =>
      transact(async (orm) => {
        const isFree = or(isNull(jobs.reader), eq(jobs.reader, processId), lt(jobs.readUntil, SERVER_NOW));
        const rows = await orm
          .update(jobs)
          .set({ reader: processId, readUntil: LEASE_END })
          .where(and(isReceiving(jobId), isFree))
          .returning({ jobId: jobs.jobId });
        return rows.length > 0;
      }),

    releaseInput: (jobId) =>
      transact(async (orm) => {
        await orm.update(jobs).set({ reader: null, readUntil: null }).where(isReadHere(jobId));
      }),

    unreadJobs: () =>
      read(async (orm) => {
        const isUnread = or(
          lt(jobs.readUntil, SERVER_NOW),
          and(isNull(jobs.reader), lt(jobs.createdAt, sql`${SERVER_NOW} - ${UNREAD_MS}::bigint`)),
        );
        const rows = await orm
          .select(JOB_COLUMNS)
          .from(jobs)
          .where(and(eq(jobs.status, "receiving"), isUnread));
        return rows.map(readJob);
      }),

    addJobChunks: (jobId, chunks) =>
      transact(async (orm) => {
        await requireReader(orm, jobId);
        if (chunks.length === 0) return;
        const fresh = { state: "waiting", attempt: 0, rowsDone: 0, units: 0, unchecked: 0, lineBytes: 0 };
        await orm
          .insert(jobChunks)
          .values(
            chunks.map(({ n, firstRow, rows, form }) => ({ jobId, n, firstRow, rows, form, ...fresh })),
          );
        await orm
          .insert(jobInputs)
          .values(chunks.map(({ n, body }) => ({ jobId, n, body: Buffer.from(body) })));
      }),

    markDuplicates: (jobId, firstChunk, duplicates) =>
      transact(async (orm) => {
        await requireReader(orm, jobId);
        for (const [index, bits] of duplicates.entries()) {
          if (bits === null) continue;
          await orm
            .update(jobChunks)
            .set({ duplicates: Buffer.from(bits) })
            .where(and(eq(jobChunks.jobId, jobId), eq(jobChunks.n, firstChunk + index)));
        }
      }),

    startJob: (jobId, change, reply) =>
      transact(async (orm) => {
        const [row] = await orm
          .update(jobs)
          .set({ ...change, reader: null, readUntil: null })
          .where(isReadHere(jobId))
          .returning(JOB_COLUMNS);
        if (row === undefined) return null;
        await putReply(orm, reply);
        return readJob(row);
      }),
  };
}

function changeCases(
  { transact }: Connection,
  clock: Pick<Clock, "now">,
): Pick<JobCases, "changeJob" | "eraseChunks" | "forgetJob"> {
  return {
    changeJob: (jobId, from, change, options) =>
      transact(async (orm) => {
        const before = await lockJob(orm, jobId);
        if (before === null || !from.includes(before.status)) return null;
        if (options !== undefined && options !== before.options) return null;
        const [row] = await orm.update(jobs).set(change).where(eq(jobs.jobId, jobId)).returning(JOB_COLUMNS);
        if (row === undefined) return null;
        const after = readJob(row);
        if (after.status !== before.status) await emitJobEvent(orm, after, Math.floor(clock.now()));
        return after;
      }),

    eraseChunks: (jobId, limit) =>
      transact(async (orm) => {
        const rows = await orm
          .select({ n: jobChunks.n })
          .from(jobChunks)
          .where(eq(jobChunks.jobId, jobId))
          .orderBy(asc(jobChunks.n))
          .limit(limit);
        if (rows.length === 0) return false;
        const chunks = rows.map(({ n }) => n);
        for (const table of [jobInputs, jobResults, jobChunks]) {
          await orm.delete(table).where(and(eq(table.jobId, jobId), inArray(table.n, chunks)));
        }
        return true;
      }),

    forgetJob: (jobId) =>
      transact(async (orm) => {
        await orm.delete(jobs).where(eq(jobs.jobId, jobId));
      }),
  };
}

type ReadCases = Pick<
  JobCases,
  "findJob" | "jobPage" | "jobsIn" | "unfinishedJobs" | "countJobs" | "jobsToErase"
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
        const isBehind =
          after === null
            ? undefined
            : or(
                lt(jobs.createdAt, after.createdAt),
                and(eq(jobs.createdAt, after.createdAt), lt(jobs.jobId, after.jobId)),
              );
        const isWanted = status === null ? undefined : eq(jobs.status, status);
        const rows = await orm
          .select(JOB_COLUMNS)
          .from(jobs)
          .where(and(ofTenant(accountId), isNull(jobs.deletedAt), isWanted, isBehind))
          .orderBy(desc(jobs.createdAt), desc(jobs.jobId))
          .limit(limit);
        return rows.map(readJob);
      }),

    jobsIn: (statuses) =>
      read(async (orm) => {
        const rows = await orm
          .select(JOB_COLUMNS)
          .from(jobs)
          .where(inArray(jobs.status, [...statuses]))
          .orderBy(asc(jobs.createdAt), asc(jobs.jobId));
        return rows.map(readJob);
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
        const rows = await orm
          .select(JOB_COLUMNS)
          .from(jobs)
          .where(and(isNull(jobs.erasedAt), lte(jobs.expiresAt, now)))
          .limit(limit);
        return rows.map(readJob);
      }),
  };
}

async function jobsOf(orm: Orm, accountId: string, statuses: readonly JobStatus[]): Promise<number> {
  const [row] = await orm
    .select({ jobs: count() })
    .from(jobs)
    .where(and(ofTenant(accountId), inArray(jobs.status, [...statuses])));
  return row?.jobs ?? 0;
}
