import { and, asc, count, desc, eq, getTableColumns, inArray, isNull, lte, min, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import { isTestTenant, ownerOf, testTenantOf } from "../../../platform/test-tenant.ts";
import { isBehind } from "../../conditions.ts";
import type { JobChange, JobPage } from "../../job-port.ts";
import {
  type FinishedChunk,
  type JobCounts,
  type JobInState,
  type JobRecord,
  type JobStatus,
  type ListedJob,
  UNFINISHED,
} from "../../job-records.ts";
import type { Orm } from "../connection/orm.ts";
import { createDueTime } from "../due-time.ts";
import { jobs } from "../schema.ts";
import type { InputStatements } from "./input-statements.ts";

/** What a chunk adds to its job. */
export type JobProgress = Pick<FinishedChunk, "processed" | "counts" | "units">;

/** The jobs of a tenant: those of test keys are kept with the account, apart from its own. */
function ofTenant(tenant: string) {
  return and(eq(jobs.accountId, ownerOf(tenant)), eq(jobs.isTest, isTestTenant(tenant)));
}

const { inputTable: _, ...LISTED } = getTableColumns(jobs);

function read<Row extends Pick<JobRecord, "accountId" | "isTest">>(row: Row): Row {
  return row.isTest ? { ...row, accountId: testTenantOf(row.accountId) } : row;
}

export type JobStatements = ReturnType<typeof createJobStatements>;

/** Jobs. Their chunks are rows of their own. */
export function createJobStatements(orm: Orm, inputs: Pick<InputStatements, "changed">) {
  const find = madeOnce(() =>
    orm
      .select()
      .from(jobs)
      .where(eq(jobs.jobId, sql.placeholder("jobId")))
      .prepare(),
  ).get;
  const inStatus = madeOnce(() => {
    const { jobId, accountId, isTest, status, statusReason, startedAt, deletedAt, unitsPerItem, round } =
      jobs;
    return orm
      .select({ jobId, accountId, isTest, status, statusReason, startedAt, deletedAt, unitsPerItem, round })
      .from(jobs)
      .where(inArray(status, sql`(SELECT value FROM json_each(${sql.placeholder("statuses")}))`))
      .orderBy(asc(jobs.createdAt), asc(jobId))
      .prepare();
  }).get;

  const isUnerased = isNull(jobs.erasedAt);
  // Both looked at each second by a server that has nothing else to do.
  const erasure = createDueTime(
    () =>
      // Without those that have not ended: in an order of ends theirs would be the first.
      orm
        .select({ expiresAt: min(jobs.expiresAt) })
        .from(jobs)
        .where(isUnerased)
        .get()?.expiresAt ?? null,
  );
  /** The states in which a look found no job since the last write that may change that. */
  const vacant = new Set<JobStatus>();
  const changed = () => {
    vacant.clear();
    erasure.changed();
    inputs.changed();
  };

  return {
    /** To be called with each write that is made beside these statements. */
    changed,

    insert: (job: JobRecord): void => {
      changed();
      orm
        .insert(jobs)
        .values({ ...job, accountId: ownerOf(job.accountId) })
        .run();
    },

    find: (jobId: string): JobRecord | undefined => {
      const row = find().get({ jobId });
      return row === undefined ? undefined : read(row);
    },

    change: (
      jobId: string,
      from: readonly JobStatus[],
      change: JobChange,
      options?: string,
    ): JobRecord | undefined => {
      changed();
      const row = orm
        .update(jobs)
        .set(change)
        .where(
          and(
            eq(jobs.jobId, jobId),
            inArray(jobs.status, [...from]),
            options === undefined ? undefined : eq(jobs.options, options),
          ),
        )
        .returning()
        .get();
      return row === undefined ? undefined : read(row);
    },

    /** Adds the outcome of a chunk. Throws where the job is not there. */
    addProgress: (jobId: string, { processed, counts, units }: JobProgress): void => {
      const job = find().get({ jobId });
      if (job === undefined) throw new Error("a chunk was finished of a job that is not there");
      const before: JobCounts = JSON.parse(job.counts);
      const words = new Set([...Object.keys(before), ...Object.keys(counts)]);
      const sums = [...words].map((word) => [word, (before[word] ?? 0) + (counts[word] ?? 0)] as const);
      orm
        .update(jobs)
        .set({
          processed: job.processed + processed,
          counts: JSON.stringify(Object.fromEntries(sums)),
          unitsCharged: job.unitsCharged + units,
        })
        .where(eq(jobs.jobId, jobId))
        .run();
    },

    page: ({ accountId, status, limit }: JobPage, after: JobRecord | undefined): ListedJob[] =>
      orm
        .select(LISTED)
        .from(jobs)
        .where(
          and(
            ofTenant(accountId),
            isNull(jobs.deletedAt),
            status === null ? undefined : eq(jobs.status, status),
            isBehind(jobs, "jobId", after),
          ),
        )
        .orderBy(desc(jobs.createdAt), desc(jobs.jobId))
        .limit(limit)
        .all()
        .map(read),

    /** Not to be asked in a transaction, which may be undone. */
    inStatus: (statuses: readonly JobStatus[]): JobInState[] => {
      if (statuses.every((status) => vacant.has(status))) return [];
      const found = inStatus()
        .all({ statuses: JSON.stringify(statuses) })
        .map(read);
      for (const status of statuses) if (!found.some((job) => job.status === status)) vacant.add(status);
      return found;
    },

    unfinished: (): { status: JobStatus; statusReason: string | null; jobs: number }[] =>
      orm
        .select({ status: jobs.status, statusReason: jobs.statusReason, jobs: count() })
        .from(jobs)
        .where(inArray(jobs.status, [...UNFINISHED]))
        .groupBy(jobs.status, jobs.statusReason)
        .all(),

    countOf: (accountId: string, statuses: readonly JobStatus[]): number =>
      orm
        .select({ jobs: count() })
        .from(jobs)
        .where(and(ofTenant(accountId), inArray(jobs.status, [...statuses])))
        .get()?.jobs ?? 0,

    /** Not to be asked in a transaction, which may be undone. */
    toErase: (now: number, limit: number): JobRecord[] =>
      erasure.isNone(now)
        ? []
        : orm
            .select()
            .from(jobs)
            .where(and(isUnerased, lte(jobs.expiresAt, now)))
            .limit(limit)
            .all()
            .map(read),

    forget: (jobId: string): void => {
      orm.delete(jobs).where(eq(jobs.jobId, jobId)).run();
    },
  };
}
