import { eq, lt, sql } from "drizzle-orm";
import type { AdmissionOutcome } from "../../admit-port.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { SERVER_NOW } from "../connection/server-clock.ts";
import { flushes } from "../schema.ts";
import { allCharged } from "./group-statements.ts";

// The number and outcome of the last group that each lane has written: what is sent again is written once.

/** What became of the last group of a process that is gone is of no use to anybody. */
const FLUSHES_KEPT_MS = 3_600_000;

/** Returns false where a group of this number was written before: its commit was not answered. */
export async function beginFlush(orm: Orm, laneId: string, sequence: number): Promise<boolean> {
  const rows = await flushBegin(orm).execute({ laneId, sequence });
  return rows.length > 0;
}

const flushBegin = builtOnce((orm) => {
  const sequence = sql<number>`${sql.placeholder("sequence")}::bigint`;
  const values = { sequence: sequence as never, outcome: "", writtenAt: SERVER_NOW as never };
  return orm
    .insert(flushes)
    .values({ processId: sql.placeholder("laneId"), ...values })
    .onConflictDoUpdate({ target: flushes.processId, set: values, setWhere: lt(flushes.sequence, sequence) })
    .returning({ sequence: flushes.sequence })
    .prepare("begin_flush");
});

/** Keeps the outcome of the group. */
export async function endFlush(
  orm: Orm,
  laneId: string,
  outcomes: readonly AdmissionOutcome[],
): Promise<void> {
  const isWhole = outcomes.every((outcome) => outcome === "charged");
  const outcome = isWhole ? allCharged(outcomes.length) : JSON.stringify(outcomes);
  await flushEnd(orm).execute({ laneId, outcome });
}

const flushEnd = builtOnce((orm) =>
  orm
    .update(flushes)
    .set({ outcome: sql`${sql.placeholder("outcome")}::text` })
    .where(eq(flushes.processId, sql.placeholder("laneId")))
    .prepare("end_flush"),
);

/** Whether a group of this number, or a later one, is written. */
export async function isFlushed(orm: Orm, laneId: string, sequence: number): Promise<boolean> {
  const [row] = await orm.select().from(flushes).where(eq(flushes.processId, laneId));
  return row !== undefined && row.sequence >= sequence;
}

/** Returns the outcome of a group that was written by an earlier try. */
export async function outcomesOf(
  orm: Orm,
  laneId: string,
  sequence: number,
): Promise<readonly AdmissionOutcome[]> {
  const [row] = await orm.select().from(flushes).where(eq(flushes.processId, laneId));
  // It may have been committed and not been on the disk when its connection was lost: this commit brings it there.
  await orm.execute(sql`SELECT pg_logical_emit_message(true, 'assay', '')`);
  if (row?.sequence !== sequence) throw new Error("a group of charges was written after its successor");
  const outcome: number | readonly AdmissionOutcome[] = JSON.parse(row.outcome);
  return typeof outcome === "number" ? new Array<AdmissionOutcome>(outcome).fill("charged") : outcome;
}

/** Removes those of processes that are gone. */
export async function removeOldFlushes(orm: Orm): Promise<void> {
  await orm.delete(flushes).where(lt(flushes.writtenAt, sql`${SERVER_NOW} - ${FLUSHES_KEPT_MS}::bigint`));
}
