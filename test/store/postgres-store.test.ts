import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { systemClock } from "../../src/platform/clock.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { MIGRATIONS, migrate } from "../../src/store/postgres/migrations.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { readInBatches } from "../../src/store/postgres/table-batches.ts";
import { carryTables } from "../../src/store/postgres/table-target.ts";
import {
  emptyDatabase,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";
import { describeJobs } from "./job-conformance.ts";
import { describeLooks } from "./look-conformance.ts";
import { describeStore, NOON } from "./store-conformance.ts";
import { describeWebhooks } from "./webhook-conformance.ts";

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

  const emptied = async () => {
    await emptyDatabase(url);
    return store;
  };
  for (const describeCases of [describeStore, describeJobs, describeLooks]) {
    describeCases("PostgreSQL", emptied);
  }
  describeWebhooks("PostgreSQL", emptied, async () => {
    await using sql = new SQL(url, { max: 1 });
    await sql`UPDATE webhook_deliveries SET lease_until = 0`;
  });

  const open = (address: string) =>
    openSharedStore({ url: address, clock: { now: () => NOON, monotonic: () => performance.now() } });

  test("an unknown mode of TLS is reported to the operator in one sentence", async () => {
    await expect(open(`${url}?sslmode=sometimes`)).rejects.toMatchObject({
      name: "StoreOpenError",
      message: expect.stringMatching(/^DATABASE_URL: .*sslmode.* must be one of: disable, .*\.$/),
    });
  });

  const openBehind = (throughPooler: string, directUrl: string) =>
    openSharedStore({ url: throughPooler, directUrl, clock: systemClock });

  test("a DATABASE_DIRECT_URL that leads to another database is refused, with what to do, and gets no tables", async () => {
    const other = await server.createDatabase();
    const nameOf = (address: string) => new URL(address).pathname.slice(1);
    const refusal = {
      name: "StoreOpenError",
      message: `DATABASE_DIRECT_URL leads to another database than DATABASE_URL: to ${nameOf(other)}, not ${nameOf(url)}. Set it to the address of the same PostgreSQL and database without the pooler.`,
    };
    await expect(openBehind(url, other)).rejects.toMatchObject(refusal);
    const carried = carryTables({ url: other, pooledUrl: url, at: NOON, tables: [] });
    await expect(carried).rejects.toMatchObject(refusal);
    await using sql = new SQL(other, { max: 1 });
    expect(await sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`).toHaveLength(0);
    (await openBehind(url, url)).close();
  });

  test("a DATABASE_DIRECT_URL that leads to a database of the same name on another server is refused", async () => {
    await using another = await startPostgres();
    const namesake = url.replace(`:${server.port}/`, `:${another.port}/`);
    await using sql = new SQL(await another.createDatabase(), { max: 1 });
    const made = await sql`SELECT 1 FROM pg_database WHERE datname = ${new URL(url).pathname.slice(1)}`;
    if (made.length === 0) await sql.unsafe(`CREATE DATABASE "${new URL(url).pathname.slice(1)}"`);
    await expect(openBehind(url, namesake)).rejects.toMatchObject({
      name: "StoreOpenError",
      message: expect.stringContaining("of another server. Set it to the address of the same PostgreSQL"),
    });
  });

  test("a server that does not answer is named by the setting that leads to it", async () => {
    const dead = url.replace(`:${server.port}/`, ":1/");
    await expect(openBehind(url, dead)).rejects.toThrow(/^DATABASE_DIRECT_URL: the database cannot be used/);
    await expect(openBehind(dead, url)).rejects.toThrow(/^DATABASE_URL: the database cannot be used/);
  });

  test("a table is read back in batches of a bound of bytes, whatever the sizes of its rows", async () => {
    await using sql = new SQL(await server.createDatabase(), { max: 1 });
    await sql`CREATE TABLE sized (n bigint, body bytea, said text, flag boolean)`;
    await sql`
      INSERT INTO sized SELECT n, convert_to(repeat('x', CASE WHEN n % 500 = 7 THEN 9000 ELSE n % 90 END), 'UTF8'),
        CASE WHEN n % 3 = 0 THEN 'é' END, n % 2 = 0 FROM generate_series(1, 5000) AS n`;
    const columns = [
      { name: "n", type: "bigint", isIdentity: false },
      { name: "body", type: "bytea", isIdentity: false },
      { name: "said", type: "text", isIdentity: false },
      { name: "flag", type: "boolean", isIdentity: false },
    ];
    const ids: number[] = [];
    await sql.begin(async (transaction) => {
      for await (const rows of readInBatches(transaction, "sized", columns, 10_000)) {
        expect(rows.length).toBeGreaterThan(0);
        const bytes = Buffer.byteLength(rows.flat().join(""));
        if (rows.length > 1) expect(bytes).toBeLessThanOrEqual(10_000);
        ids.push(...rows.map(([n]) => Number(n)));
      }
    });
    expect(ids.sort((one, other) => one - other)).toEqual(Array.from({ length: 5_000 }, (_, n) => n + 1));
  });

  test("a database in an encoding without all of Unicode is refused, with what to do", async () => {
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe(
      "CREATE DATABASE narrow ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
    );
    await expect(open(url.replace(/[^/]+$/, "narrow"))).rejects.toMatchObject({
      name: "StoreOpenError",
      message: expect.stringContaining("createdb --encoding=UTF8"),
    });
  });

  test.each([
    ["a new database", MIGRATIONS],
    ["one of an earlier version, brought forward", MIGRATIONS.slice(0, 4)],
  ])(
    "invoices, plan periods, usage events and operators' acts of %s can be neither changed nor removed",
    async (_, first) => {
      await using sql = new SQL(await server.createDatabase(), { max: 1 });
      await migrate(sql, NOON, first);
      await sql.unsafe(
        "INSERT INTO accounts (account_id, email, normalized, plan, created_at) VALUES ('a','e','n','free',1)",
      );
      await sql.unsafe("INSERT INTO invoices VALUES ('i','a',1,2,3,4,'{}',5)");
      await sql.unsafe(
        "INSERT INTO plan_periods (account_id, period_start, period_end, plan, monthly_price_micro_usd, included_units, starts_at, ends_at, invoice_id) VALUES ('a',1,2,'free',0,1,1,2,'i')",
      );
      await sql.unsafe(
        "INSERT INTO usage_events (account_id, plan_period_id, at, endpoint, units) VALUES ('a',1,1,'/',1)",
      );
      await sql.unsafe(
        "INSERT INTO operator_acts (at, operator, action, details) VALUES (1,'root','list','{}')",
      );
      await migrate(sql, NOON);
      const changes = {
        invoices: "total_micro_usd = 0",
        plan_periods: "units = 9",
        usage_events: "units = 9",
        operator_acts: "operator = 'x'",
      };
      for (const [table, change] of Object.entries(changes)) {
        for (const statement of [
          `UPDATE ${table} SET ${change}`,
          `DELETE FROM ${table}`,
          `TRUNCATE ${table}`,
          `TRUNCATE accounts, ${table} RESTART IDENTITY CASCADE`,
        ]) {
          expect(async () => await sql.unsafe(statement)).toThrow(/never (changes|goes)/);
        }
        const [row] = await sql.unsafe(`SELECT count(*)::int AS count FROM ${table}`);
        expect(row.count).toBe(1);
      }
    },
  );
}
