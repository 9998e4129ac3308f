import { and, count, eq, getTableColumns, inArray, isNull, type SQL } from "drizzle-orm";
import { isTestTenant, ownerOf, testTenantOf } from "../../../platform/test-tenant.ts";
import { jobEvent } from "../../job-event.ts";
import { type JobRecord, type JobStatus, STOPPABLE } from "../../job-records.ts";
import type { Orm } from "../connection/orm.ts";
import { jobs } from "../schema.ts";
import { emit } from "../webhooks/webhook-rows.ts";

const { reader: _, readUntil: __, ...jobColumns } = getTableColumns(jobs);

/** The columns of a job as the port has it. */
export const JOB_COLUMNS = jobColumns;

const { inputTable: ___, ...listedColumns } = jobColumns;

/** The columns of a listed job. */
export const LISTED_COLUMNS = listedColumns;

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

/** Deletes the jobs of an account and of its test keys, and what was said about them. Part of a transaction. */
export async function deleteJobs(orm: Orm, accountId: string, at: number): Promise<void> {
  const own = eq(jobs.accountId, accountId);
  const isKept = and(own, isNull(jobs.deletedAt));
  await orm.update(jobs).set({ name: null, webhookUrl: null }).where(own);
  await orm
    .update(jobs)
    .set({ status: "cancelling", statusReason: "by_operator" })
    .where(and(isKept, inArray(jobs.status, [...STOPPABLE])));
  await orm.update(jobs).set({ deletedAt: at, expiresAt: at }).where(isKept);
}
