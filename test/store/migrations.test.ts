import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  generateDrizzleJson,
  generateMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from "drizzle-kit/api";
import { integer as pgInteger, pgTable } from "drizzle-orm/pg-core";
import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../src/store/postgres/migrations.ts";
import * as postgresSchema from "../../src/store/postgres/schema.ts";
import { MIGRATIONS, migrate } from "../../src/store/sqlite/migrations.ts";
import * as schema from "../../src/store/sqlite/schema.ts";
import { handClock } from "../billing/accounting.ts";

const FOLDER = join(import.meta.dir, "../../src/store/sqlite/migrations");
const POSTGRES_FOLDER = join(import.meta.dir, "../../src/store/postgres/migrations");
const clock = handClock();

function migrated(): Database {
  const database = new Database(":memory:");
  database.run("PRAGMA foreign_keys = ON");
  migrate(database, clock);
  return database;
}

/** The names of the steps in a folder, by its files and by the journal that the next one is numbered by. */
function stepsIn(folder: string) {
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(join(folder, "meta/_journal.json"), "utf8"),
  );
  return {
    files: files.sort().map((name) => name.replace(".sql", "")),
    journal: journal.entries.map(({ tag }) => tag),
  };
}

/** The schema that the newest step was made from. */
function newestSnapshot(folder: string) {
  const snapshots = readdirSync(join(folder, "meta")).filter((name) => name.endsWith("_snapshot.json"));
  return JSON.parse(readFileSync(join(folder, "meta", snapshots.sort().at(-1) ?? ""), "utf8"));
}

test.each([
  ["SQLite", FOLDER, MIGRATIONS],
  ["PostgreSQL", POSTGRES_FOLDER, POSTGRES_MIGRATIONS],
])("every file of the folder is a step of the program, in order: %s", (_, folder, migrations) => {
  const names = migrations.map(({ name }) => name);
  expect(stepsIn(folder)).toEqual({ files: names, journal: names });
});

test("the migrations match the schema (else: bun run db:generate)", async () => {
  const snapshot = newestSnapshot(FOLDER);
  const changes = async (tables: Record<string, unknown>) =>
    generateSQLiteMigration(snapshot, await generateSQLiteDrizzleJson(tables, snapshot.id));
  expect(await changes(schema)).toEqual([]);
  const later = sqliteTable("later", { laterId: integer("later_id").primaryKey() });
  expect(await changes({ ...schema, later })).toHaveLength(1);
});

test("the migrations of PostgreSQL match its schema (else: bun run db:generate)", async () => {
  const snapshot = newestSnapshot(POSTGRES_FOLDER);
  const changes = (tables: Record<string, unknown>) =>
    generateMigration(snapshot, generateDrizzleJson(tables, snapshot.id));
  expect(await changes(postgresSchema)).toEqual([]);
  const later = pgTable("later", { laterId: pgInteger("later_id").primaryKey() });
  expect(await changes({ ...postgresSchema, later })).toHaveLength(1);
});

test("migrations are applied once, and a failing one rolls all new ones back", () => {
  const database = migrated();
  migrate(database, clock);
  const broken = {
    name: "0900_broken",
    sql: "CREATE TABLE half (x INTEGER) STRICT;--> statement-breakpoint\nNO SQL",
  };
  expect(() => migrate(database, clock, [...MIGRATIONS, broken])).toThrow();
  const rows = database.query<{ name: string }, []>("SELECT name FROM migrations").all();
  expect(rows.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
  expect(database.query("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
});

test("a database of an earlier version is migrated with its rows", () => {
  const database = new Database(":memory:");
  migrate(database, clock, MIGRATIONS.slice(0, 1));
  database.run("INSERT INTO probes VALUES (1, 5)");
  database.run(
    "INSERT INTO usage_events (account_id, plan_period_id, at, endpoint, units) VALUES ('a',1,17,'/',1), ('b',2,9,'/v',3)",
  );
  migrate(database, clock);
  expect(database.query("SELECT * FROM usage_events").values()).toEqual([
    [1, "a", 1, 17, "/", 1],
    [2, "b", 2, 9, "/v", 3],
  ]);
  expect(database.query<{ kept: number }, []>("SELECT kept_at AS kept FROM kept_clock").get()).toEqual({
    kept: 17,
  });
  expect(database.query<{ at: number }, []>("SELECT at FROM probes").get()).toEqual({ at: 5 });
});

test("every table is strict", () => {
  const tables = migrated().query<{ name: string; strict: number }, []>("PRAGMA table_list").all();
  const loose = tables.filter(({ name, strict }) => strict === 0 && !name.startsWith("sqlite_"));
  expect(loose).toEqual([]);
});

test("invoices, the plan periods under them, usage events and operators' acts can be neither changed nor removed", () => {
  const database = migrated();
  database.run("INSERT INTO accounts VALUES ('a','e','n',null,null,null,null,'free',null,null,1,null,null)");
  database.run("INSERT INTO invoices VALUES ('i','a',1,2,3,4,'{}',5)");
  database.run(
    "INSERT INTO plan_periods (account_id, period_start, period_end, plan, monthly_price_micro_usd, included_units, starts_at, ends_at, invoice_id) VALUES ('a',1,2,'free',0,1,1,2,'i')",
  );
  database.run(
    "INSERT INTO usage_events (account_id, plan_period_id, at, endpoint, units) VALUES ('a',1,1,'/',1)",
  );
  database.run("INSERT INTO operator_acts (at, operator, action, details) VALUES (1,'root','list','{}')");
  for (const statement of [
    "UPDATE invoices SET total_micro_usd = 0",
    "DELETE FROM invoices",
    "UPDATE plan_periods SET units = 9",
    "DELETE FROM plan_periods",
    "UPDATE usage_events SET units = 9",
    "DELETE FROM usage_events",
    "UPDATE operator_acts SET operator = 'x'",
    "DELETE FROM operator_acts",
    // No trigger on a removal sees what an insertion replaces.
    "REPLACE INTO usage_events SELECT event_id, account_id, plan_period_id, at, endpoint, 9 FROM usage_events",
    "REPLACE INTO operator_acts (act_id, at, operator, action, details) VALUES (1,1,'x','list','{}')",
    "REPLACE INTO plan_periods (plan_period_id, account_id, period_start, period_end, plan, monthly_price_micro_usd, included_units, starts_at) VALUES (1,'a',1,2,'free',0,9,1)",
  ]) {
    expect(() => database.run(statement)).toThrow(/never (changes|goes)/);
  }
  const replaced = "REPLACE INTO invoices VALUES ('%','a',1,2,3,0,'{}',5)";
  for (const id of ["i", "j"]) database.run(replaced.replace("%", id));
  expect(database.query("SELECT invoice_id, total_micro_usd FROM invoices").values()).toEqual([["i", 4]]);
});
