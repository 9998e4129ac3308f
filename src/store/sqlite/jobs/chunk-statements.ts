import { and, asc, eq, gte, inArray, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import { erasedTogether } from "../../erasing-steps.ts";
import type { ChunkResults, NewJobChunk } from "../../job-records.ts";
import type { Orm } from "../connection/orm.ts";
import { jobChunks, jobInputs, jobResults } from "../schema.ts";

export type ChunkStatements = ReturnType<typeof createChunkStatements>;

/** Chunks of jobs: their rows, inputs and results. */
export function createChunkStatements(orm: Orm) {
  const addChunk = madeOnce(() =>
    orm
      .insert(jobChunks)
      .values({
        jobId: sql.placeholder("jobId"),
        n: sql.placeholder("n"),
        firstRow: sql.placeholder("firstRow"),
        rows: sql.placeholder("rows"),
        form: sql.placeholder("form"),
        state: "waiting",
        attempt: 0,
        duplicates: null,
        rowsDone: 0,
        units: 0,
        unchecked: 0,
        lineBytes: 0,
      })
      .prepare(),
  ).get;
  const addInput = madeOnce(() =>
    orm
      .insert(jobInputs)
      .values({ jobId: sql.placeholder("jobId"), n: sql.placeholder("n"), body: sql.placeholder("body") })
      .prepare(),
  ).get;
  const markDuplicates = madeOnce(() =>
    orm
      .update(jobChunks)
      .set({ duplicates: sql`${sql.placeholder("duplicates")}` })
      .where(and(eq(jobChunks.jobId, sql.placeholder("jobId")), eq(jobChunks.n, sql.placeholder("n"))))
      .prepare(),
  ).get;
  const input = madeOnce(() =>
    orm
      .select({ body: jobInputs.body })
      .from(jobInputs)
      .where(and(eq(jobInputs.jobId, sql.placeholder("jobId")), eq(jobInputs.n, sql.placeholder("n"))))
      .prepare(),
  ).get;
  const results = madeOnce(() =>
    orm
      .select({ body: jobResults.body })
      .from(jobResults)
      .where(and(eq(jobResults.jobId, sql.placeholder("jobId")), eq(jobResults.n, sql.placeholder("n"))))
      .orderBy(asc(jobResults.rowsDone))
      .prepare(),
  ).get;

  return {
    add: (jobId: string, { n, firstRow, rows, form, body }: NewJobChunk): void => {
      addChunk().run({ jobId, n, firstRow, rows, form });
      addInput().run({ jobId, n, body: Buffer.from(body) });
    },

    markDuplicates: (jobId: string, n: number, duplicates: Uint8Array): void => {
      markDuplicates().run({ jobId, n, duplicates: Buffer.from(duplicates) });
    },

    results: (jobId: string, fromChunk: number, limit: number): ChunkResults[] =>
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
      results()
        .all({ jobId, n })
        .map(({ body }) => body),

    inputBody: (jobId: string, n: number): Uint8Array | null => input().get({ jobId, n })?.body ?? null,

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
      const bodies = [jobInputs, jobResults].flatMap((table) =>
        orm
          .select({ n: table.n, bytes: sql<number>`octet_length(${table.body})` })
          .from(table)
          .where(and(eq(table.jobId, jobId), inArray(table.n, chunks)))
          .all(),
      );
      const erased = erasedTogether(chunks, bodies);
      for (const table of [jobInputs, jobResults, jobChunks]) {
        orm
          .delete(table)
          .where(and(eq(table.jobId, jobId), inArray(table.n, erased)))
          .run();
      }
      return true;
    },
  };
}
