import { and, count, eq, gte, ne, sql } from "drizzle-orm";
import type { UnfinishedChunks } from "../../job-rounds.ts";
import type { Orm } from "../connection/orm.ts";
import { jobChunks } from "../schema.ts";
import { addProgress } from "./chunk-rows.ts";

// The chunks of a job where one of its rounds ends.

/** Counts the chunks of a job that are not done. */
export async function unfinishedChunks(orm: Orm, jobId: string): Promise<UnfinishedChunks> {
  const rows = await orm
    .select({ state: jobChunks.state, chunks: count() })
    .from(jobChunks)
    .where(and(eq(jobChunks.jobId, jobId), sql`${jobChunks.state} <> 'done'`))
    .groupBy(jobChunks.state);
  const chunksIn = (state: string) => rows.find((each) => each.state === state)?.chunks ?? 0;
  return { waiting: chunksIn("waiting"), claimed: chunksIn("claimed") };
}

/** Waits for claims that are on their way, and lets none begin until the end of the transaction. */
export async function lockWaiting(orm: Orm, jobId: string): Promise<void> {
  await orm
    .select({ n: jobChunks.n })
    .from(jobChunks)
    .where(and(eq(jobChunks.jobId, jobId), sql`${jobChunks.state} = 'waiting'`))
    .for("no key update");
}

/** Puts the chunks back that have unchecked rows; returns their number. */
export async function requeueUnchecked(orm: Orm, jobId: string): Promise<number> {
  const rows = await orm
    .update(jobChunks)
    .set({ state: "waiting" })
    .where(and(eq(jobChunks.jobId, jobId), sql`${jobChunks.state} = 'done'`, gte(jobChunks.unchecked, 1)))
    .returning({ n: jobChunks.n });
  return rows.length;
}

/**
 * Counts the rows whose look-up failed as unknown, where a job has ended and nobody looks them up again. Those of a claimed
 * chunk are left to its end. The job must be locked.
 */
export async function countUnchecked(orm: Orm, jobId: string): Promise<void> {
  const left = orm.$with("left_over").as(
    orm
      .select({ n: jobChunks.n, unchecked: jobChunks.unchecked })
      .from(jobChunks)
      .where(and(eq(jobChunks.jobId, jobId), ne(jobChunks.state, "claimed"), gte(jobChunks.unchecked, 1)))
      // What finishes a chunk locks it before its job: waiting for it here could be a deadlock.
      .for("no key update", { skipLocked: true }),
  );
  const counted = await orm
    .with(left)
    .update(jobChunks)
    .set({ unchecked: 0 })
    .from(left)
    .where(and(eq(jobChunks.jobId, jobId), eq(jobChunks.n, left.n)))
    .returning({ rows: left.unchecked });
  const unchecked = counted.reduce((sum, { rows }) => sum + rows, 0);
  if (unchecked === 0) return;
  await addProgress(orm, { jobId, processed: unchecked, counts: { unknown: unchecked }, units: 0 });
}
