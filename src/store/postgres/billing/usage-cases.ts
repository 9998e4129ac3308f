import { and, eq, sql } from "drizzle-orm";
import type { ChargeEntry } from "../../account-records.ts";
import type { QuotaMark, UsagePort } from "../../billing-port.ts";
import type { ChargeSum } from "../../charge-sums.ts";
import { ClaimLostError } from "../../job-port.ts";
import { lockAccounts } from "../account-locks.ts";
import type { Connection } from "../connection/connection.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { finishChunk, lockChunks } from "../jobs/chunk-rows.ts";
import { putReply } from "../reply-rows.ts";
import { quotaMarks, usageDays, usageEvents } from "../schema.ts";
import { emit } from "../webhooks/webhook-rows.ts";
import { keepClock } from "./clock-rows.ts";
import { usageByEndpoint } from "./month-rows.ts";

/** Charges, and what they add up to. */
export function createUsageCases({ transact, read }: Connection, processId: string): UsagePort {
  return {
    record: ({ sums, replies, chunks, quotaMarks: marks, keptAt }) =>
      transact(async (orm) => {
        await lockAccounts(orm, accountIdsOf(sums));
        const held = await lockChunks(orm, processId, chunks);
        if (held.size < chunks.length) throw new ClaimLostError("a chunk is no longer held");
        await writeCharges(orm, sums);
        for (const reply of replies) await putReply(orm, reply);
        for (const chunk of chunks) await finishChunk(orm, chunk);
        await writeMarks(orm, marks);
        if (keptAt !== null) await keepClock(orm, keptAt);
      }),
    // A commit that was answered is on the disk of the server.
    sync: () => Promise.resolve(),
    usageByDay: (accountId, firstDay, lastDay) =>
      read((orm) =>
        orm
          .select({
            day: usageDays.day,
            calls: sql`sum(${usageDays.calls})`.mapWith(Number),
            units: sql`sum(${usageDays.units})`.mapWith(Number),
          })
          .from(usageDays)
          .where(
            and(eq(usageDays.accountId, accountId), sql`${usageDays.day} between ${firstDay} and ${lastDay}`),
          )
          .groupBy(usageDays.day)
          .orderBy(usageDays.day),
      ),
    usageByEndpoint: (accountId, firstDay, lastDay) =>
      read((orm) => usageByEndpoint(orm, accountId, firstDay, lastDay)),
    eventUnits: () =>
      read((orm) =>
        orm
          .select({
            planPeriodId: usageEvents.planPeriodId,
            units: sql`sum(${usageEvents.units})`.mapWith(Number),
          })
          .from(usageEvents)
          .groupBy(usageEvents.planPeriodId),
      ),
  };
}

/** Writes shares of months that are used up, each once, with its event. */
export async function writeMarks(orm: Orm, marks: readonly QuotaMark[]): Promise<void> {
  for (const { event, ...mark } of marks) {
    const added = await orm
      .insert(quotaMarks)
      .values(mark)
      .onConflictDoNothing()
      .returning({ percent: quotaMarks.percent });
    if (added.length > 0) await emit(orm, mark.accountId, event);
  }
}

/** Returns the accounts of entries, each once. */
export function accountIdsOf(entries: readonly ChargeEntry[]): readonly string[] {
  return [...new Set(entries.map(({ accountId }) => accountId))];
}

/**
 * Writes charges in events, days and counters alike, in one statement. Their accounts are locked. Calls of no units
 * that come after the invoice of their month are counted by their day alone.
 */
export async function writeCharges(orm: Orm, sums: readonly ChargeSum[]): Promise<void> {
  if (sums.length === 0) return;
  await chargesWritten(orm).execute({ charges: chargesText(sums) });
}

const chargesWritten = builtOnce((orm) =>
  orm
    .select({ nothing: sql`1` })
    .from(sql`write_charges(${sql.placeholder("charges")}::text::json)`)
    .prepare("write_charges"),
);

/** Returns charges as the functions of the database take them. */
export function chargesText(sums: readonly ChargeSum[]): string {
  const rows = sums.map(({ accountId, planPeriodId, at, day, endpoint, units, calls }) => {
    return { account_id: accountId, plan_period_id: planPeriodId, at, day, endpoint, units, calls };
  });
  return JSON.stringify(rows);
}
