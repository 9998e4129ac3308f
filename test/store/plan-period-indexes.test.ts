import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { createPlanPeriodStatements } from "../../src/store/sqlite/billing/plan-period-statements.ts";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { clock } from "./store-conformance.ts";

type PlanPeriods = ReturnType<typeof createPlanPeriodStatements>;

/** The plan of a statement, as the database chooses it for any number of rows. */
function planOf(run: (planPeriods: PlanPeriods) => void): readonly string[] {
  using database = new Database(":memory:");
  migrate(database, clock);
  const asked: (readonly [string, readonly unknown[]])[] = [];
  const logger = { logQuery: (sql: string, params: unknown[]) => void asked.push([sql, params]) };
  run(createPlanPeriodStatements(drizzle({ client: database, logger })));
  return asked.flatMap(([sql, params]) =>
    database
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(params as never[]))
      .map(({ detail }) => detail),
  );
}

test("months to enter and to invoice are found in their order, without a look at those that are done", () => {
  expect(planOf((planPeriods) => planPeriods.runningDue(5, 100))).toEqual([
    "SEARCH plan_periods USING INDEX plan_periods_running_by_end (period_end<?)",
  ]);
  expect(planOf((planPeriods) => planPeriods.uninvoicedDue(5, 3, 100))).toEqual([
    "SEARCH plan_periods USING INDEX plan_periods_to_invoice (plan_period_id>?)",
  ]);
});
