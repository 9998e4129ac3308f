import { and, asc, eq, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import { ownerOf } from "../../../platform/test-tenant.ts";
import type { JobPort } from "../../job-port.ts";
import { UNFINISHED } from "../../job-records.ts";
import { StorageError } from "../../storage-error.ts";
import { lockUnerased } from "../account-locks.ts";
import type { Connection } from "../connection/connection.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { LEASE_END, SERVER_NOW } from "../connection/server-clock.ts";
import { keepReply } from "../reply-rows.ts";
import { jobChunks, jobInputs, jobs } from "../schema.ts";
import { eraseChunks } from "./chunk-erasure.ts";
import { JOB_COLUMNS, jobsOf, readJob } from "./job-rows.ts";

export type IntakeCases = Pick<
  JobPort,
  | "createJob"
  | "claimInput"
  | "releaseInput"
  | "cutOffJobs"
  | "lateJobs"
  | "clearInput"
  | "addJobChunks"
  | "markDuplicates"
  | "startJob"
>;

/** A job that was created is read within this time. */
const UNREAD_MS = 60_000;

/** The inputs of jobs until they are started; each is read by one node. */
export function intakeCases({ transact, read }: Connection, processId: string): IntakeCases {
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
        await lockUnerased(orm, accountId);
        if ((await jobsOf(orm, job.accountId, UNFINISHED)) >= unfinishedMax) return false;
        await orm.insert(jobs).values({ ...job, accountId });
        await keepReply(orm, processId, reply);
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

    cutOffJobs: () =>
      read(async (orm) => {
        const rows = await cutOffJobs(orm).execute();
        return rows.map(({ jobId }) => jobId);
      }),

    lateJobs: (createdBy, limit) => read((orm) => lateJobs(orm).execute({ createdBy, limit })),

    clearInput: (jobId, limit) =>
      transact(async (orm) => {
        await requireReader(orm, jobId);
        return await eraseChunks(orm, jobId, limit);
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
        await keepReply(orm, processId, reply);
        return readJob(row);
      }),
  };
}

const IS_UNREAD = or(
  lt(jobs.readUntil, SERVER_NOW),
  and(isNull(jobs.reader), lt(jobs.createdAt, sql`${SERVER_NOW} - ${UNREAD_MS}::bigint`)),
);

// The server's own reader of JSON refuses a NUL or half a surrogate pair, which a caller may have written in any of them.
// In a text the quotes would be escaped.
const HAS_NO_PARTS = sql`${jobs.options} NOT LIKE '%"upload":{%'`;

// Both asked for every second: what stays is not sent.
const cutOffJobs = builtOnce((orm) =>
  orm
    .select({ jobId: jobs.jobId })
    .from(jobs)
    .where(and(eq(jobs.status, "receiving"), IS_UNREAD, HAS_NO_PARTS))
    .orderBy(asc(jobs.createdAt))
    .prepare("cut_off_jobs"),
);

const lateJobs = builtOnce((orm) =>
  orm
    .select({ jobId: jobs.jobId, deletedAt: jobs.deletedAt })
    .from(jobs)
    .where(
      and(
        eq(jobs.status, "receiving"),
        or(
          isNotNull(jobs.deletedAt),
          and(sql`${jobs.createdAt} <= ${sql.placeholder("createdBy")}::bigint`, IS_UNREAD),
        ),
      ),
    )
    .orderBy(asc(jobs.createdAt))
    .limit(sql.placeholder("limit"))
    .prepare("late_jobs"),
);
