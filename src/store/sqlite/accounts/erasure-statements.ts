import { and, asc, eq, gte, inArray, isNotNull, lt, sql } from "drizzle-orm";
import { type DeletedJob, jobDeletions } from "../../deleted-jobs.ts";
import { ERASING, erasedMailbox } from "../../erased-mailbox.ts";
import { UNFINISHED } from "../../job-records.ts";
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
  function deleteJobs(which: readonly DeletedJob[], at: number): void {
    changed();
    for (const { jobIds, values } of jobDeletions(which, at)) {
      const isOne = sql`${jobs.jobId} IN (SELECT value FROM json_each(${JSON.stringify(jobIds)}))`;
      orm.update(jobs).set(values).where(isOne).run();
    }
  }

  return {
    /** Accounts whose jobs are not all cleared. */
    underWay: (): string[] => {
      const { accountId, erasedAt, normalized } = accounts;
      const isMarked = and(gte(normalized, ERASING), lt(normalized, BEHIND_ERASING), isNotNull(erasedAt));
      const rows = orm.select({ accountId }).from(accounts).where(isMarked).all();
      return rows.map((row) => row.accountId);
    },

    /** Ends the erasure of an account in which one is under way. */
    end: (accountId: string): void => {
      orm
        .update(accounts)
        .set({ normalized: erasedMailbox(accountId) })
        .where(eq(accounts.accountId, accountId))
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
