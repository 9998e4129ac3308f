import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { createStatements } from "../../src/store/sqlite/statements.ts";
import { clock } from "./store-conformance.ts";

type Statements = ReturnType<typeof createStatements>;

/** Returns the plans of the statements that are run, as the embedded database chooses them for any number of rows. */
export function plansOf(run: (statements: Statements) => void): readonly string[] {
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
