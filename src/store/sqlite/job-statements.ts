import { and, asc, count, desc, eq, gt, gte, inArray, isNull, lt, lte, or, sql } from "drizzle-orm";
import { isTestTenant, ownerOf, testTenantOf } from "../../platform/test-tenant.ts";
import type {
  ChunkClaim,
  ChunkResults,
  ClaimedChunk,
  FinishedChunk,
  JobChange,
  JobCounts,
  JobPage,
  JobRecord,
  JobStatus,
  NewJobChunk,
} from "../job-port.ts";
import type { Orm } from "./orm.ts";
import { jobChunks, jobInputs, jobResults, jobs } from "./schema.ts";

/** The jobs of a tenant: those of test keys are kept with the account, apart from its own. */
function ofTenant(tenant: string) {
  return and(eq(jobs.accountId, ownerOf(tenant)), eq(jobs.isTest, isTestTenant(tenant)));
}

function read(row: typeof jobs.$inferSelect): JobRecord {
  return row.isTest ? { ...row, accountId: testTenantOf(row.accountId) } : row;
}

/** Jobs and their chunk ledger. */
export function createJobStatements(orm: Orm) {
  const thisChunk = and(eq(jobChunks.jobId, sql.placeholder("jobId")), eq(jobChunks.n, sql.placeholder("n")));
  // A parameter would keep the database from the index of these chunks alone.
  const isWaiting = sql`${jobChunks.state} = 'waiting'`;
  const isUnfinished = sql`${jobChunks.state} <> 'done'`;
  const firstWaiting = orm
    .select()
    .from(jobChunks)
    .where(and(eq(jobChunks.jobId, sql.placeholder("jobId")), isWaiting))
    .orderBy(asc(jobChunks.n))
    .limit(1)
    .prepare();
  const behindFirstWaiting = orm
    .select({ n: jobChunks.n })
    .from(jobChunks)
    .where(
      and(
        eq(jobChunks.jobId, sql.placeholder("jobId")),
        gt(jobChunks.n, sql.placeholder("n")),
        gt(jobChunks.rowsDone, 0),
      ),
    )
    .limit(1)
    .prepare();
  const claim = orm
    .update(jobChunks)
    .set({ state: "claimed", attempt: sql`${jobChunks.attempt} + 1` })
    .where(thisChunk)
    .prepare();
  const input = orm
    .select({ body: jobInputs.body })
    .from(jobInputs)
    .where(and(eq(jobInputs.jobId, sql.placeholder("jobId")), eq(jobInputs.n, sql.placeholder("n"))))
    .prepare();
  const find = orm
    .select()
    .from(jobs)
    .where(eq(jobs.jobId, sql.placeholder("jobId")))
    .prepare();
  const results = orm
    .select({ body: jobResults.body })
    .from(jobResults)
    .where(and(eq(jobResults.jobId, sql.placeholder("jobId")), eq(jobResults.n, sql.placeholder("n"))))
    .orderBy(asc(jobResults.rowsDone))
    .prepare();
  const unfinished = orm
    .select({ state: jobChunks.state, chunks: count() })
    .from(jobChunks)
    .where(and(eq(jobChunks.jobId, sql.placeholder("jobId")), isUnfinished))
    .groupBy(jobChunks.state)
    .prepare();
  const finish = orm
    .update(jobChunks)
    .set({
      state: sql`${sql.placeholder("state")}`,
      attempt: sql`${sql.placeholder("attempts")}`,
      rowsDone: sql`${sql.placeholder("rowsDone")}`,
      unchecked: sql`${jobChunks.unchecked} * ${sql.placeholder("keeps")} + ${sql.placeholder("unchecked")}`,
      units: sql`${jobChunks.units} + ${sql.placeholder("units")}`,
      lineBytes: sql`${jobChunks.lineBytes} * ${sql.placeholder("keeps")} + ${sql.placeholder("lineBytes")}`,
    })
    .where(
      and(thisChunk, eq(jobChunks.attempt, sql.placeholder("attempt")), sql`${jobChunks.state} = 'claimed'`),
    )
    .returning({ n: jobChunks.n })
    .prepare();
  const insertResult = orm
    .insert(jobResults)
    .values({
      jobId: sql.placeholder("jobId"),
      n: sql.placeholder("n"),
      rowsDone: sql.placeholder("rowsDone"),
      body: sql.placeholder("body"),
    })
    .prepare();
  const claimedBy = (jobId: string, n: number, attempt: number) =>
    and(
      eq(jobChunks.jobId, jobId),
      eq(jobChunks.n, n),
      eq(jobChunks.attempt, attempt),
      eq(jobChunks.state, "claimed"),
    );

  return {
    insert: (job: JobRecord): void => {
      orm
        .insert(jobs)
        .values({ ...job, accountId: ownerOf(job.accountId) })
        .run();
    },

    addChunk: (jobId: string, { n, firstRow, rows, form, body }: NewJobChunk): void => {
      const chunk = { jobId, n, firstRow, rows, form };
      const fresh = { state: "waiting", attempt: 0, duplicates: null, rowsDone: 0, units: 0 };
      orm
        .insert(jobChunks)
        .values({ ...chunk, ...fresh, unchecked: 0, lineBytes: 0 })
        .run();
      orm
        .insert(jobInputs)
        .values({ jobId, n, body: Buffer.from(body) })
        .run();
    },

    markDuplicates: (jobId: string, n: number, duplicates: Uint8Array): void => {
      orm
        .update(jobChunks)
        .set({ duplicates: Buffer.from(duplicates) })
        .where(and(eq(jobChunks.jobId, jobId), eq(jobChunks.n, n)))
        .run();
    },

    find: (jobId: string): JobRecord | undefined => {
      const row = find.get({ jobId });
      return row === undefined ? undefined : read(row);
    },

    change: (
      jobId: string,
      from: readonly JobStatus[],
      change: JobChange,
      options?: string,
    ): JobRecord | undefined => {
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

    page: ({ accountId, status, limit }: JobPage, after: JobRecord | undefined): JobRecord[] =>
      orm
        .select()
        .from(jobs)
        .where(
          and(
            ofTenant(accountId),
            isNull(jobs.deletedAt),
            status === null ? undefined : eq(jobs.status, status),
            after === undefined
              ? undefined
              : or(
                  lt(jobs.createdAt, after.createdAt),
                  and(eq(jobs.createdAt, after.createdAt), lt(jobs.jobId, after.jobId)),
                ),
          ),
        )
        .orderBy(desc(jobs.createdAt), desc(jobs.jobId))
        .limit(limit)
        .all()
        .map(read),

    inStatus: (statuses: readonly JobStatus[]): JobRecord[] =>
      orm
        .select()
        .from(jobs)
        .where(inArray(jobs.status, [...statuses]))
        .orderBy(asc(jobs.createdAt), asc(jobs.jobId))
        .all()
        .map(read),

    unfinished: (): { status: JobStatus; statusReason: string | null; jobs: number }[] =>
      orm
        .select({ status: jobs.status, statusReason: jobs.statusReason, jobs: count() })
        .from(jobs)
        .where(inArray(jobs.status, ["receiving", "queued", "running", "paused", "cancelling"]))
        .groupBy(jobs.status, jobs.statusReason)
        .all(),

    countOf: (accountId: string, statuses: readonly JobStatus[]): number =>
      orm
        .select({ jobs: count() })
        .from(jobs)
        .where(and(ofTenant(accountId), inArray(jobs.status, [...statuses])))
        .get()?.jobs ?? 0,

    toErase: (now: number, limit: number): JobRecord[] =>
      orm
        .select()
        .from(jobs)
        .where(and(isNull(jobs.erasedAt), lte(jobs.expiresAt, now)))
        .limit(limit)
        .all()
        .map(read),

    claim: (jobId: string): ClaimedChunk | null => {
      const found = firstWaiting.get({ jobId });
      if (found === undefined) return null;
      const { n, firstRow, rows, form, duplicates, rowsDone, attempt } = found;
      claim.run({ jobId, n });
      const body = input.get({ jobId, n })?.body;
      if (body === undefined) throw new Error("a chunk of a job has no input");
      return { n, firstRow, rows, form, duplicates, rowsDone, attempt: attempt + 1, body };
    },

    /** Whether a chunk that waits stands before one with results. */
    hasGap: (jobId: string): boolean => {
      const first = firstWaiting.get({ jobId });
      return first !== undefined && behindFirstWaiting.get({ jobId, n: first.n }) !== undefined;
    },

    release: ({ jobId, n, attempt }: ChunkClaim, attempts: number): void => {
      orm
        .update(jobChunks)
        .set({ state: "waiting", attempt: attempts })
        .where(claimedBy(jobId, n, attempt))
        .run();
    },

    keepUnchecked: ({ jobId, n, attempt }: ChunkClaim): void => {
      const found = orm
        .select({ unchecked: jobChunks.unchecked })
        .from(jobChunks)
        .where(claimedBy(jobId, n, attempt))
        .get();
      if (found === undefined) throw new Error("a chunk was given up by one who no longer holds it");
      orm
        .update(jobChunks)
        .set({ state: "done", attempt: 0, unchecked: 0 })
        .where(claimedBy(jobId, n, attempt))
        .run();
      const { unchecked } = found;
      addProgress(
        orm,
        { processed: unchecked, counts: { unknown: unchecked }, units: 0 },
        find.get({ jobId }),
      );
    },

    reap: (): number =>
      orm
        .update(jobChunks)
        .set({ state: "waiting" })
        .where(eq(jobChunks.state, "claimed"))
        .returning({ n: jobChunks.n })
        .all().length,

    unfinishedChunks: (jobId: string): { readonly waiting: number; readonly claimed: number } => {
      const states = unfinished.all({ jobId });
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

    /** Writes what a claimed chunk came to. Throws where somebody else has claimed it since. */
    finish: (finished: FinishedChunk): void => {
      const { jobId, n, attempt, rowsDone, isWhole, body, units, unchecked, lineBytes } = finished;
      const changed = finish.all({
        ...{ jobId, n, attempt, rowsDone, unchecked, units, lineBytes },
        state: isWhole ? "done" : "waiting",
        attempts: isWhole ? 0 : finished.attemptsAfter,
        keeps: finished.replaces ? 0 : 1,
      });
      if (changed.length !== 1) throw new Error("a chunk was finished by one who no longer holds it");
      if (finished.replaces) {
        orm
          .delete(jobResults)
          .where(and(eq(jobResults.jobId, jobId), eq(jobResults.n, n)))
          .run();
      }
      insertResult.run({
        jobId,
        n,
        rowsDone,
        body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      });
      addProgress(orm, finished, find.get({ jobId }));
    },

    chunkResults: (jobId: string, fromChunk: number, limit: number): ChunkResults[] =>
      orm
        .select({
          n: jobChunks.n,
          firstRow: jobChunks.firstRow,
          rows: jobChunks.rows,
          rowsDone: jobChunks.rowsDone,
          form: jobChunks.form,
          lineBytes: jobChunks.lineBytes,
        })
        .from(jobChunks)
        .where(and(eq(jobChunks.jobId, jobId), gte(jobChunks.n, fromChunk)))
        .orderBy(asc(jobChunks.n))
        .limit(limit)
        .all(),

    resultBodies: (jobId: string, n: number): Uint8Array[] =>
      results.all({ jobId, n }).map(({ body }) => body),

    inputBody: (jobId: string, n: number): Uint8Array | null => input.get({ jobId, n })?.body ?? null,

    erase: (jobId: string, limit: number): boolean => {
      const chunks = orm
        .select({ n: jobChunks.n })
        .from(jobChunks)
        .where(eq(jobChunks.jobId, jobId))
        .orderBy(asc(jobChunks.n))
        .limit(limit)
        .all()
        .map(({ n }) => n);
      if (chunks.length === 0) return false;
      for (const table of [jobInputs, jobResults, jobChunks]) {
        orm
          .delete(table)
          .where(and(eq(table.jobId, jobId), inArray(table.n, chunks)))
          .run();
      }
      return true;
    },

    forget: (jobId: string): void => {
      orm.delete(jobs).where(eq(jobs.jobId, jobId)).run();
    },
  };
}

function addProgress(
  orm: Orm,
  finished: Pick<FinishedChunk, "processed" | "counts" | "units">,
  job: JobRecord | undefined,
): void {
  if (job === undefined) throw new Error("a chunk was finished of a job that is not there");
  const counts: JobCounts = JSON.parse(job.counts);
  const words = new Set([...Object.keys(counts), ...Object.keys(finished.counts)]);
  const added = [...words].map((word) => [word, (counts[word] ?? 0) + (finished.counts[word] ?? 0)] as const);
  orm
    .update(jobs)
    .set({
      processed: job.processed + finished.processed,
      counts: JSON.stringify(Object.fromEntries(added)),
      unitsCharged: job.unitsCharged + finished.units,
    })
    .where(eq(jobs.jobId, job.jobId))
    .run();
}
