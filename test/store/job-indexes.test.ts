import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { UNFINISHED } from "../../src/store/job-records.ts";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { createStatements } from "../../src/store/sqlite/statements.ts";
import { clock } from "./store-conformance.ts";

type Statements = ReturnType<typeof createStatements>;

/** The plans of the statements that a use case runs. */
function plansOf(run: (statements: Pick<Statements, "jobs" | "erasures">) => void): readonly string[] {
  using database = new Database(":memory:");
  migrate(database, clock);
  const asked: (readonly [string, readonly unknown[]])[] = [];
  const logger = { logQuery: (sql: string, params: unknown[]) => void asked.push([sql, params]) };
  run(createStatements(drizzle({ client: database, logger })));
  return asked.flatMap(([sql, params]) =>
    database
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(params as never[]))
      .map(({ detail }) => detail),
  );
}

test("an account with many deleted jobs is listed, and its unfinished ones counted, without a look at those", () => {
  const page = { accountId: "acc_a", status: null, afterJobId: null, limit: 20 };
  expect(plansOf(({ jobs }) => jobs.page(page, undefined))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed (account_id=?)",
  ]);
  expect(plansOf(({ jobs }) => jobs.countOf("acc_a", UNFINISHED))).toEqual([
    "SEARCH jobs USING INDEX jobs_of_account_by_status (account_id=? AND status=?)",
  ]);
});

test("an account is erased without a look at its ended jobs, and these are cleared in the order of an index", () => {
  expect(plansOf(({ erasures }) => erasures.deleteUnfinished("acc_a", 1))).toEqual([
    "SEARCH jobs USING INDEX jobs_of_account_by_status (account_id=? AND status=?)",
  ]);
  const account = { accountId: "acc_a", erasedAt: 1 };
  expect(
    plansOf(({ erasures }) => void erasures.deleteNext(account, { createdAt: 1, jobId: "job_1" }, 2)),
  ).toEqual(["SEARCH jobs USING INDEX jobs_by_account (account_id=? AND (created_at,job_id)>(?,?))"]);
});
