import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { erasedTogether } from "../../erasing-steps.ts";
import type { Orm } from "../connection/orm.ts";
import { jobChunks, jobInputs, jobResults } from "../schema.ts";

/**
 * Erases the input and results of up to `limit` chunks, fewer where they are large; false once none are left. They are
 * locked first, so that no results are written beside it, which nothing would find.
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
  const bodies: { readonly n: number; readonly bytes: number }[] = [];
  for (const table of [jobInputs, jobResults]) {
    const sizes = await orm
      .select({ n: table.n, bytes: sql<number>`octet_length(${table.body})` })
      .from(table)
      .where(and(eq(table.jobId, jobId), inArray(table.n, chunks)));
    bodies.push(...sizes);
  }
  const erased = erasedTogether(chunks, bodies);
  for (const table of [jobInputs, jobResults, jobChunks]) {
    await orm.delete(table).where(and(eq(table.jobId, jobId), inArray(table.n, erased)));
  }
  return true;
}
