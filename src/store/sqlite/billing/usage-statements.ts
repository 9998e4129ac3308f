import { and, asc, between, eq, sql, sum } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { EndpointUse } from "../../account-records.ts";
import type { QuotaMark } from "../../billing-port.ts";
import type { Orm } from "../connection/orm.ts";
import { quotaMarks, usageDays, usageEvents } from "../schema.ts";

type UsageEventRow = typeof usageEvents.$inferSelect;
type UsageDayRow = typeof usageDays.$inferSelect;

export type UsageStatements = ReturnType<typeof createUsageStatements>;

/** Charges one by one, and their roll-up by day and endpoint. */
export function createUsageStatements(orm: Orm) {
  const insertEvent = madeOnce(() =>
    orm
      .insert(usageEvents)
      .values({
        accountId: sql.placeholder("accountId"),
        planPeriodId: sql.placeholder("planPeriodId"),
        at: sql.placeholder("at"),
        endpoint: sql.placeholder("endpoint"),
        units: sql.placeholder("units"),
      })
      .prepare(),
  ).get;
  const addDay = madeOnce(() =>
    orm
      .insert(usageDays)
      .values({
        accountId: sql.placeholder("accountId"),
        day: sql.placeholder("day"),
        endpoint: sql.placeholder("endpoint"),
        calls: sql.placeholder("calls"),
        units: sql.placeholder("units"),
      })
      .onConflictDoUpdate({
        target: [usageDays.accountId, usageDays.day, usageDays.endpoint],
        set: {
          calls: sql`${usageDays.calls} + excluded.calls`,
          units: sql`${usageDays.units} + excluded.units`,
        },
      })
      .prepare(),
  ).get;
  const inDays = (accountId: string, firstDay: string, lastDay: string) =>
    and(eq(usageDays.accountId, accountId), between(usageDays.day, firstDay, lastDay));
  const calls = sum(usageDays.calls).mapWith(Number);
  const units = sum(usageDays.units).mapWith(Number);

  /** Both days belong to the range. */
  const byEndpoint = (accountId: string, firstDay: string, lastDay: string): EndpointUse[] =>
    orm
      .select({ endpoint: usageDays.endpoint, calls, units })
      .from(usageDays)
      .where(inDays(accountId, firstDay, lastDay))
      .groupBy(usageDays.endpoint)
      .orderBy(asc(usageDays.endpoint))
      .all();

  return {
    /** False where the account's month has this mark. */
    addMark: ({ accountId, periodStart, percent }: QuotaMark): boolean =>
      orm
        .insert(quotaMarks)
        .values({ accountId, periodStart, percent })
        .onConflictDoNothing()
        .returning({ percent: quotaMarks.percent })
        .all().length > 0,

    insertEvent: (event: Omit<UsageEventRow, "eventId">): void => {
      insertEvent().run(event);
    },

    addDay: (row: UsageDayRow): void => {
      addDay().run(row);
    },

    /** Both days belong to the range. */
    byDay: (accountId: string, firstDay: string, lastDay: string) =>
      orm
        .select({ day: usageDays.day, calls, units })
        .from(usageDays)
        .where(inDays(accountId, firstDay, lastDay))
        .groupBy(usageDays.day)
        .orderBy(asc(usageDays.day))
        .all(),

    byEndpoint,

    /** The units of all events, by plan period: what counters and invoices must agree with. */
    eventUnits: (): { planPeriodId: number; units: number }[] =>
      orm
        .select({ planPeriodId: usageEvents.planPeriodId, units: sum(usageEvents.units).mapWith(Number) })
        .from(usageEvents)
        .groupBy(usageEvents.planPeriodId)
        .all(),
  };
}
