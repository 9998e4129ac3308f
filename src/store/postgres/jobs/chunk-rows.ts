import { and, asc, eq, type Placeholder, type SQL, sql } from "drizzle-orm";
import type { ChunkClaim, FinishedChunk } from "../../job-records.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { hasEnded } from "../connection/server-clock.ts";
import { jobChunks, jobResults, jobs } from "../schema.ts";

/** A chunk that a process has claimed and holds still. */
export function isHeld(
  { jobId, n, attempt }: { readonly [field in keyof ChunkClaim]: ChunkClaim[field] | Placeholder },
  processId: string | Placeholder,
): SQL | undefined {
  return and(
    eq(jobChunks.jobId, jobId),
    eq(jobChunks.n, n),
    eq(jobChunks.attempt, attempt),
    eq(jobChunks.owner, processId),
    sql`${jobChunks.state} = 'claimed'`,
  );
}

const WAITING = { state: "waiting", owner: null, leaseUntil: null } as const;

/** Puts chunks back, with these attempts to count, or those so far, with or without the one that has ended. */
export async function putBack(
  orm: Orm,
  which: SQL | undefined,
  attempts: number | "counted" | "not_counted",
): Promise<number> {
  const rows = await orm
    .update(jobChunks)
    .set({ ...WAITING, attempt: attemptsLeft(attempts) })
    .where(and(which, sql`${jobChunks.state} = 'claimed'`))
    .returning({ n: jobChunks.n });
  return rows.length;
}

/** A claimed chunk whose process has not renewed its lease. */
export const lapsedChunk = builtOnce((orm) =>
  orm
    .select({ n: jobChunks.n })
    .from(jobChunks)
    .where(and(sql`${jobChunks.state} = 'claimed'`, hasEnded(jobChunks.leaseUntil)))
    .limit(1)
    .prepare("lapsed_chunk"),
);

function attemptsLeft(attempts: number | "counted" | "not_counted"): SQL {
  if (attempts === "counted") return sql`${jobChunks.attempt}`;
  return attempts === "not_counted" ? sql`${jobChunks.attempt} - 1` : sql`${attempts}::bigint`;
}

/** Returns the name by which `lockChunks` returns a chunk. */
export const chunkName = ({ jobId, n, attempt }: ChunkClaim): string => `${jobId} ${n} ${attempt}`;

/**
 * Locks the chunks that are to be finished; returns the names of those that are still held as they were claimed. A claim
 * that a process lost and took again has the same number where rows were finished between: the rows distinguish them.
 */
export async function lockChunks(
  orm: Orm,
  processId: string,
  chunks: readonly FinishedChunk[],
): Promise<ReadonlySet<string>> {
  if (chunks.length === 0) return new Set();
  const held = await Promise.all(
    chunks.map((chunk) => {
      const { jobId, n, attempt } = chunk;
      return heldChunk(orm).execute({ jobId, n, attempt, processId, rowsBefore: rowsBefore(chunk) });
    }),
  );
  return new Set(held.flat().map(chunkName));
}

const heldChunk = builtOnce((orm) =>
  orm
    .select({ jobId: jobChunks.jobId, n: jobChunks.n, attempt: jobChunks.attempt })
    .from(jobChunks)
    .where(
      and(
        isHeld(
          {
            jobId: sql.placeholder("jobId"),
            n: sql.placeholder("n"),
            attempt: sql.placeholder("attempt"),
          },
          sql.placeholder("processId"),
        ),
        eq(jobChunks.rowsDone, sql.placeholder("rowsBefore")),
      ),
    )
    .for("no key update")
    .prepare("held_chunk"),
);

function rowsBefore({ replaces, rowsDone, processed, unchecked }: FinishedChunk): number {
  return replaces ? rowsDone : rowsDone - processed - unchecked;
}

/** Returns a finished chunk as the procedure `admit_at_once` takes it, without its result. */
export function finishedText(chunk: FinishedChunk): string {
  const { jobId, n, attempt, rowsDone, isWhole, attemptsAfter, unchecked, units, lineBytes } = chunk;
  return JSON.stringify({
    job_id: jobId,
    n,
    attempt,
    rows_before: rowsBefore(chunk),
    rows_done: rowsDone,
    is_whole: isWhole,
    attempts_after: attemptsAfter,
    unchecked,
    units,
    line_bytes: lineBytes,
    processed: chunk.processed,
    counts: chunk.counts,
  });
}

/** Writes the outcome of a chunk that is locked: its result, and the progress of its job last. */
export async function finishChunk(orm: Orm, finished: FinishedChunk): Promise<void> {
  const { jobId, n, rowsDone, isWhole, body, units, unchecked, lineBytes, replaces } = finished;
  const ofResults = and(eq(jobResults.jobId, jobId), eq(jobResults.n, n));
  // Sent together, and run one after the other.
  await Promise.all([
    orm
      .update(jobChunks)
      .set({
        ...WAITING,
        state: isWhole ? "done" : "waiting",
        attempt: isWhole ? 0 : finished.attemptsAfter,
        rowsDone,
        unchecked: replaces ? unchecked : sql`${jobChunks.unchecked} + ${unchecked}::bigint`,
        units: sql`${jobChunks.units} + ${units}::bigint`,
        lineBytes: replaces ? lineBytes : sql`${jobChunks.lineBytes} + ${lineBytes}::bigint`,
      })
      .where(and(eq(jobChunks.jobId, jobId), eq(jobChunks.n, n))),
    ...(replaces ? [orm.delete(jobResults).where(ofResults)] : []),
    orm.insert(jobResults).values({ jobId, n, rowsDone, body: Buffer.from(body) }),
    addProgress(orm, finished),
  ]);
}

/** Adds rows, outcomes and units to the totals of a job. */
export function addProgress(
  orm: Orm,
  { jobId, processed, counts, units }: Pick<FinishedChunk, "jobId" | "processed" | "counts" | "units">,
) {
  return progress(orm).execute({ jobId, processed, units, added: JSON.stringify(counts) });
}

const progress = builtOnce((orm) =>
  orm
    .update(jobs)
    .set({
      processed: sql`${jobs.processed} + ${sql.placeholder("processed")}::bigint`,
      unitsCharged: sql`${jobs.unitsCharged} + ${sql.placeholder("units")}::bigint`,
      counts: sql`(
        SELECT coalesce(json_object_agg(word, results)::text, '{}') FROM (
          SELECT key AS word, sum(value::bigint) AS results FROM (
            SELECT * FROM json_each_text(${jobs.counts}::json)
            UNION ALL SELECT * FROM json_each_text(${sql.placeholder("added")}::text::json)
          ) AS each GROUP BY key
        ) AS sums)`,
    })
    .where(eq(jobs.jobId, sql.placeholder("jobId")))
    .prepare("job_progress"),
);

/** Chunks of a job in the order of its input, from one on. */
export function chunksFrom(orm: Orm, jobId: string, fromChunk: number, limit: number) {
  return orm
    .select({
      n: jobChunks.n,
      firstRow: jobChunks.firstRow,
      rows: jobChunks.rows,
      rowsDone: jobChunks.rowsDone,
      form: jobChunks.form,
      lineBytes: jobChunks.lineBytes,
    })
    .from(jobChunks)
    .where(and(eq(jobChunks.jobId, jobId), sql`${jobChunks.n} >= ${fromChunk}::bigint`))
    .orderBy(asc(jobChunks.n))
    .limit(limit);
}
