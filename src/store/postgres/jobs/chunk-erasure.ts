import { and, asc, eq, inArray } from "drizzle-orm";
import type { Orm } from "../connection/orm.ts";
import { jobChunks, jobInputs, jobResults } from "../schema.ts";

/**
 * Erases the input and results of up to `limit` chunks; false once none are left. They are locked first, so that no
 * results are written beside it, which nothing would find.
 */
export async function eraseChunks(orm: Orm, jobId: string, limit: number): Promise<boolean> {
  const rows = await orm
    .select({ n: jobChunks.n })
    .from(jobChunks)
    .where(eq(jobChunks.jobId, jobId))
    .orderBy(asc(jobChunks.n))
    .limit(limit)
    .for("update");
  if (rows.length === 0) return false;
  const chunks = rows.map(({ n }) => n);
  for (const table of [jobInputs, jobResults, jobChunks]) {
    await orm.delete(table).where(and(eq(table.jobId, jobId), inArray(table.n, chunks)));
  }
  return true;
}
