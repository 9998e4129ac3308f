import { afterAll, beforeAll, test } from "bun:test";
import { SQL } from "bun";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";
import { describeStore } from "./store-conformance.ts";

const NOON = Date.parse("2026-11-20T12:00:00Z");

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the store on it is not tested", () => {});
} else {
  let server: PostgresServer;
  let url: string;
  let store: SharedStore;

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    store = await openSharedStore({ url, clock: { now: () => NOON, monotonic: () => performance.now() } });
  }, 60_000);

  afterAll(async () => {
    store?.close();
    await server?.[Symbol.asyncDispose]();
  });

  describeStore("PostgreSQL", async () => {
    await empty(url);
    return store;
  });
}

/** Removes all rows: as fast as a new database is not. */
async function empty(url: string): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  const tables: { name: string }[] = await sql`
    SELECT quote_ident(tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'migrations'`;
  await sql.unsafe(`TRUNCATE ${tables.map(({ name }) => name).join(", ")} RESTART IDENTITY CASCADE`);
}
