import { and, asc, eq, isNotNull, lte, or, sql } from "drizzle-orm";
import type { LateJob } from "../../job-port.ts";
import type { Orm } from "../connection/orm.ts";
import { createDueTime } from "../due-time.ts";
import { jobs } from "../schema.ts";

export type InputStatements = ReturnType<typeof createInputStatements>;

/** The jobs whose inputs are not started. */
export function createInputStatements(orm: Orm) {
  const isReceiving = eq(jobs.status, "receiving");
  // Looked at each second. A deleted one is due at once.
  const due = createDueTime(
    () =>
      orm
        .select({ at: sql<number | null>`min(iif(${jobs.deletedAt} IS NULL, ${jobs.createdAt}, 0))` })
        .from(jobs)
        .where(isReceiving)
        .get()?.at ?? null,
  );
  return {
    /** To be called with each write that may make one of them late. */
    changed: due.changed,

    /** Those that came in one piece. */
    cutOff: (): string[] =>
      orm
        .select({ jobId: jobs.jobId })
        .from(jobs)
        .where(and(isReceiving, sql`${jobs.options} ->> '$.upload' IS NULL`))
        .orderBy(asc(jobs.createdAt))
        .all()
        .map(({ jobId }) => jobId),

    /** Those that are deleted, or were created by a time. Not to be asked in a transaction, which may be undone. */
    late: (createdBy: number, limit: number): LateJob[] =>
      due.isNone(createdBy)
        ? []
        : orm
            .select({ jobId: jobs.jobId, deletedAt: jobs.deletedAt })
            .from(jobs)
            .where(and(isReceiving, or(isNotNull(jobs.deletedAt), lte(jobs.createdAt, createdBy))))
            .orderBy(asc(jobs.createdAt))
            .limit(limit)
            .all(),
  };
}
