import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { UNFINISHED } from "../../src/store/job-records.ts";
import { createJobStatements } from "../../src/store/sqlite/jobs/job-statements.ts";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { clock } from "./store-conformance.ts";

/** The plans of the statements that a use case runs. */
function plansOf(run: (jobs: ReturnType<typeof createJobStatements>) => void): readonly string[] {
  using database = new Database(":memory:");
  migrate(database, clock);
  const asked: (readonly [string, readonly unknown[]])[] = [];
  const logger = { logQuery: (sql: string, params: unknown[]) => void asked.push([sql, params]) };
  run(createJobStatements(drizzle({ client: database, logger }), { changed: () => {} }));
  return asked.flatMap(([sql, params]) =>
    database
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(params as never[]))
      .map(({ detail }) => detail),
  );
}

test("an account with many deleted jobs is listed, and its unfinished ones counted, without a look at those", () => {
  const page = { accountId: "acc_a", status: null, afterJobId: null, limit: 20 };
  expect(plansOf((jobs) => jobs.page(page, undefined))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed (account_id=?)",
  ]);
  expect(plansOf((jobs) => jobs.countOf("acc_a", UNFINISHED))).toEqual([
    "SEARCH jobs USING INDEX jobs_of_account_by_status (account_id=? AND status=?)",
  ]);
});
