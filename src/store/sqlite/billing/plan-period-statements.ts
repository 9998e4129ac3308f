import { and, asc, eq, isNull, lte, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { NewPlanPeriod, PlanPeriodRecord } from "../../account-records.ts";
import { isToInvoice } from "../../conditions.ts";
import type { Orm } from "../connection/orm.ts";
import { planPeriods } from "../schema.ts";

export type PlanPeriodStatements = ReturnType<typeof createPlanPeriodStatements>;

/** The times that accounts spent on a plan, and what they used in them. */
export function createPlanPeriodStatements(orm: Orm) {
  const running = madeOnce(() =>
    orm
      .select()
      .from(planPeriods)
      .where(and(eq(planPeriods.accountId, sql.placeholder("accountId")), isNull(planPeriods.endsAt)))
      .prepare(),
  ).get;
  const ofMonth = madeOnce(() =>
    orm
      .select()
      .from(planPeriods)
      .where(
        and(
          eq(planPeriods.accountId, sql.placeholder("accountId")),
          eq(planPeriods.periodStart, sql.placeholder("periodStart")),
        ),
      )
      .orderBy(asc(planPeriods.planPeriodId))
      .prepare(),
  ).get;
  const add = madeOnce(() =>
    orm
      .update(planPeriods)
      .set({
        units: sql`${planPeriods.units} + ${sql.placeholder("units")}`,
        calls: sql`${planPeriods.calls} + ${sql.placeholder("calls")}`,
      })
      .where(eq(planPeriods.planPeriodId, sql.placeholder("planPeriodId")))
      .prepare(),
  ).get;

  return {
    insert: (row: NewPlanPeriod): PlanPeriodRecord => orm.insert(planPeriods).values(row).returning().get(),

    running: (accountId: string): PlanPeriodRecord | undefined => running().get({ accountId }),

    /** The plan periods of one month, in the order in which they began. */
    ofMonth: (accountId: string, periodStart: number): PlanPeriodRecord[] =>
      ofMonth().all({ accountId, periodStart }),

    end: (planPeriodId: number, endsAt: number): void => {
      orm.update(planPeriods).set({ endsAt }).where(eq(planPeriods.planPeriodId, planPeriodId)).run();
    },

    add: (planPeriodId: number, units: number, calls: number): void => {
      add().run({ planPeriodId, units, calls });
    },

    /** Gives units for nothing, beyond the included ones. */
    credit: (planPeriodId: number, units: number): void => {
      orm
        .update(planPeriods)
        .set({ creditedUnits: sql`${planPeriods.creditedUnits} + ${units}` })
        .where(eq(planPeriods.planPeriodId, planPeriodId))
        .run();
    },

    /** Accounts whose running plan period lies in a month that is over. */
    runningDue: (now: number, limit: number): string[] =>
      orm
        .select({ accountId: planPeriods.accountId })
        .from(planPeriods)
        .where(and(isNull(planPeriods.endsAt), lte(planPeriods.periodEnd, now)))
        .orderBy(asc(planPeriods.periodEnd), asc(planPeriods.planPeriodId))
        .limit(limit)
        .all()
        .map((row) => row.accountId),

    /** The next plan period after `afterId` that has ended, in a month that is over, and has no invoice. */
    uninvoicedDue: (now: number, afterId: number, limit: number): PlanPeriodRecord[] =>
      orm
        .select()
        .from(planPeriods)
        .where(and(isToInvoice(planPeriods, now), sql`${planPeriods.planPeriodId} > ${afterId}`))
        .orderBy(asc(planPeriods.planPeriodId))
        .limit(limit)
        .all(),

    markInvoiced: (accountId: string, periodStart: number, invoiceId: string): void => {
      orm
        .update(planPeriods)
        .set({ invoiceId })
        .where(and(eq(planPeriods.accountId, accountId), eq(planPeriods.periodStart, periodStart)))
        .run();
    },
  };
}
