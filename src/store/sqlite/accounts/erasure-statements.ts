import { and, asc, eq, gte, inArray, isNotNull, lt, sql } from "drizzle-orm";
import { ERASING, erasedMailbox, erasingMailbox } from "../../erased-mailbox.ts";
import { type JobRecord, STOPPABLE, UNFINISHED } from "../../job-records.ts";
import type { JobPlace } from "../../operator-port.ts";
import type { Orm } from "../connection/orm.ts";
import type { JobStatements } from "../jobs/job-statements.ts";
import { accounts, jobs } from "../schema.ts";

export type ErasureStatements = ReturnType<typeof createErasureStatements>;

/** Follows all that begins with `ERASING`. */
const BEHIND_ERASING = "erasing!";
/** What the deletion of a job depends on. */
const DELETION_COLUMNS = { jobId: jobs.jobId, status: jobs.status, deletedAt: jobs.deletedAt };

/** Erased accounts, and the deletion of their jobs and of those of their test keys. */
export function createErasureStatements(orm: Orm, { changed }: Pick<JobStatements, "changed">) {
  /** Deletes jobs, and what was said about them. */
  function deleteJobs(which: readonly Pick<JobRecord, "jobId" | "status" | "deletedAt">[], at: number): void {
    const change = (some: typeof which, values: Partial<JobRecord>) => {
      const ids = JSON.stringify(some.map((job) => job.jobId));
      const isOne = sql`${jobs.jobId} IN (SELECT value FROM json_each(${ids}))`;
      if (some.length > 0) orm.update(jobs).set(values).where(isOne).run();
    };
    changed();
    const kept = which.filter((job) => job.deletedAt === null);
    const stoppable = kept.filter((job) => STOPPABLE.includes(job.status));
    change(stoppable, { status: "cancelling", statusReason: "by_operator" });
    change(kept, { name: null, webhookUrl: null, deletedAt: at, expiresAt: at });
    change(
      which.filter((job) => job.deletedAt !== null),
      { name: null, webhookUrl: null },
    );
  }

  return {
    /** Accounts whose jobs are not all cleared. */
    underWay: (): string[] => {
      const { accountId, erasedAt, normalized } = accounts;
      const isMarked = and(gte(normalized, ERASING), lt(normalized, BEHIND_ERASING), isNotNull(erasedAt));
      const rows = orm.select({ accountId }).from(accounts).where(isMarked).all();
      return rows.map((row) => row.accountId);
    },

    end: (accountId: string): void => {
      const isMarked = and(
        eq(accounts.accountId, accountId),
        eq(accounts.normalized, erasingMailbox(accountId)),
      );
      orm
        .update(accounts)
        .set({ normalized: erasedMailbox(accountId) })
        .where(isMarked)
        .run();
    },

    /** Deletes the unfinished jobs of an account, which are few. */
    deleteUnfinished: (accountId: string, at: number): void => {
      const unfinished = and(eq(jobs.accountId, accountId), inArray(jobs.status, [...UNFINISHED]));
      deleteJobs(orm.select(DELETION_COLUMNS).from(jobs).where(unfinished).all(), at);
    },

    /** Deletes some jobs of an erased account; returns the last, or null without any. */
    deleteNext: (
      { accountId, erasedAt }: { readonly accountId: string; readonly erasedAt: number },
      after: JobPlace | null,
      limit: number,
    ): JobPlace | null => {
      const { createdAt, jobId } = jobs;
      const isLater =
        after === null ? undefined : sql`(${createdAt}, ${jobId}) > (${after.createdAt}, ${after.jobId})`;
      const some = orm
        .select({ ...DELETION_COLUMNS, createdAt })
        .from(jobs)
        .where(and(eq(jobs.accountId, accountId), isLater))
        .orderBy(asc(createdAt), asc(jobId))
        .limit(limit)
        .all();
      deleteJobs(some, erasedAt);
      const last = some.at(-1);
      return last === undefined ? null : { createdAt: last.createdAt, jobId: last.jobId };
    },
  };
}
