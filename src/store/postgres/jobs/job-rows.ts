import { and, asc, count, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { isTestTenant, ownerOf, testTenantOf } from "../../../platform/test-tenant.ts";
import { type DeletedJob, jobDeletions } from "../../deleted-jobs.ts";
import { jobEvent } from "../../job-event.ts";
import { type JobRecord, type JobStatus, UNFINISHED } from "../../job-records.ts";
import type { JobPlace } from "../../operator-port.ts";
import { arrayOf, type Orm } from "../connection/orm.ts";
import { jobs } from "../schema.ts";
import { emit } from "../webhooks/webhook-rows.ts";

const { reader: _, readUntil: __, ...jobColumns } = getTableColumns(jobs);

/** The columns of a job as the port has it. */
export const JOB_COLUMNS = jobColumns;

const { inputTable: ___, ...listedColumns } = jobColumns;

/** The columns of a listed job. */
export const LISTED_COLUMNS = listedColumns;

/** What the deletion of a job depends on. */
const DELETION_COLUMNS = { jobId: jobs.jobId, status: jobs.status, deletedAt: jobs.deletedAt };

export type JobRow = Omit<typeof jobs.$inferSelect, "reader" | "readUntil">;

export function readJob<Row extends Pick<JobRow, "accountId" | "isTest">>(row: Row): Row {
  return row.isTest ? { ...row, accountId: testTenantOf(row.accountId) } : row;
}

/** The jobs of a tenant: those of test keys are kept with the account, apart from its own. */
export function ofTenant(tenant: string): SQL | undefined {
  return and(eq(jobs.accountId, ownerOf(tenant)), eq(jobs.isTest, isTestTenant(tenant)));
}

/** Returns a job that nobody else changes until the end of the transaction. */
export async function lockJob(orm: Orm, jobId: string): Promise<JobRecord | null> {
  const [row] = await orm.select(JOB_COLUMNS).from(jobs).where(eq(jobs.jobId, jobId)).for("no key update");
  return row === undefined ? null : readJob(row);
}

/** Writes the event that a job's change of state is. */
export async function emitJobEvent(orm: Orm, job: JobRecord, at: number): Promise<void> {
  const event = jobEvent(job, at);
  if (event !== null) await emit(orm, job.accountId, event, job.webhookUrl);
}

/** Counts the jobs of a tenant that are in one of these states. */
export async function jobsOf(orm: Orm, accountId: string, statuses: readonly JobStatus[]): Promise<number> {
  const [row] = await orm
    .select({ jobs: count() })
    .from(jobs)
    .where(and(ofTenant(accountId), inArray(jobs.status, [...statuses])));
  return row?.jobs ?? 0;
}

/** Deletes the unfinished jobs of an account and of its test keys, which are few. Part of a transaction. */
export async function deleteUnfinished(orm: Orm, accountId: string, at: number): Promise<void> {
  const unfinished = and(eq(jobs.accountId, accountId), inArray(jobs.status, [...UNFINISHED]));
  await deleteJobs(
    orm,
    await orm.select(DELETION_COLUMNS).from(jobs).where(unfinished).for("no key update"),
    at,
  );
}

/** Deletes some jobs of an erased account and of its test keys; returns the last, or null without any. */
export async function deleteNext(
  orm: Orm,
  { accountId, erasedAt }: { readonly accountId: string; readonly erasedAt: number },
  after: JobPlace | null,
  limit: number,
): Promise<JobPlace | null> {
  // By the index in this order: the server would read all that is left of an account with many to sort it.
  await orm.execute(
    sql`SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
      set_config('enable_sort', 'off', true)`,
  );
  const { createdAt, jobId } = jobs;
  const isBehind =
    after === null
      ? undefined
      : sql`(${createdAt}, ${jobId}) > (${after.createdAt}::bigint, ${after.jobId}::text)`;
  const some = await orm
    .select({ ...DELETION_COLUMNS, createdAt })
    .from(jobs)
    .where(and(eq(jobs.accountId, accountId), isBehind))
    .orderBy(asc(createdAt), asc(jobId))
    .limit(limit)
    .for("no key update");
  await deleteJobs(orm, some, erasedAt);
  const last = some.at(-1);
  return last === undefined ? null : { createdAt: last.createdAt, jobId: last.jobId };
}

/**
 * Deletes locked jobs, and what was said about them. By their ids alone: by a condition on their deletion the server may
 * read the whole index of those that are listed.
 */
async function deleteJobs(orm: Orm, locked: readonly DeletedJob[], at: number): Promise<void> {
  for (const { jobIds, values } of jobDeletions(locked, at)) {
    await orm
      .update(jobs)
      .set(values)
      .where(sql`${jobs.jobId} = ANY(${arrayOf(jobIds)}::text[])`);
  }
}
