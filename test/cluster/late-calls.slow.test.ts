import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import { type Connection, createConnection } from "../../src/store/postgres/connection/connection.ts";
import type { Orm } from "../../src/store/postgres/connection/orm.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

const DEADLINE_MS = 1_000;

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so late calls are not tested", () => {});
}

describe.if(isPostgresInstalled)("a call that is late while the server answers others", () => {
  let server: PostgresServer;
  let other: SQL;
  let connection: Connection;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  beforeEach(async () => {
    const url = await server.createDatabase();
    other = new SQL(url, { max: 2 });
    await other`CREATE TABLE notes (n integer)`;
    const clock = { now: () => 0, monotonic: () => performance.now() };
    const limits = { connectionsMax: 4, deadlineMs: DEADLINE_MS };
    connection = createConnection({ urls: [url], isPooled: false, clock, ...limits });
  });
  afterEach(async () => {
    connection?.close();
    await other?.close({ timeout: 0 });
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  const sleep = (seconds: number) => sql`SELECT pg_sleep(${seconds}::float8)`;

  test("is refused alone: what others have under way is done", async () => {
    const late = connection.transact(async (orm) => {
      await orm.execute(sleep(0.6));
      await orm.execute(sleep(0.6));
    });
    const refused = late.catch((error: unknown) => error);
    await connection.transact((orm) => orm.execute(sleep(0.6)));
    const under = connection.transact(async (orm) => {
      await orm.execute(sleep(0.3));
      await refused;
      await orm.execute(sql`INSERT INTO notes VALUES (1)`);
    });
    expect(await refused).toBeInstanceOf(StorageError);
    await under;
    expect(await other`SELECT n FROM notes`).toEqual([{ n: 1 }]);
  });

  test("begins no further statement, and holds nothing", async () => {
    let began = 0;
    const late = connection.transact(async (orm) => {
      for (; began < 9; began += 1) {
        await orm.execute(sql`INSERT INTO notes VALUES (${began})`);
        await orm.execute(sleep(0.6));
      }
    });
    const refused = late.catch((error: unknown) => error);
    await connection.transact((orm) => orm.execute(sleep(0.6)));
    expect(await refused).toBeInstanceOf(StorageError);
    await other.begin(async (alone) => await alone`LOCK TABLE notes IN ACCESS EXCLUSIVE MODE`);
    expect([began, await other`SELECT n FROM notes`]).toEqual([2, []]);
  });

  test("whose connection alone hangs has all of them replaced after another deadline", async () => {
    const pidOf = async (orm: Orm) => {
      const [row] = await orm.execute<{ readonly pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
      return row?.pid ?? 0;
    };
    let stopped = 0;
    const late = connection.transact(async (orm) => {
      stopped = await pidOf(orm);
      process.kill(stopped, "SIGSTOP");
      await orm.execute(sql`SELECT 1`);
    });
    const refused = late.catch((error: unknown) => error);
    try {
      await connection.transact((orm) => orm.execute(sleep(0.6)));
      expect(await refused).toBeInstanceOf(StorageError);
      const known = await connection.read(pidOf);
      // Calls go on meanwhile, but for those that the end of the old connections breaks off.
      let now: number | null = known;
      for (const endMs = performance.now() + 10 * DEADLINE_MS; performance.now() < endMs; ) {
        now = await connection.read(pidOf).catch(() => null);
        if (now !== null && now !== known) break;
      }
      expect(now).not.toBe(known);
    } finally {
      process.kill(stopped, "SIGCONT");
    }
  });
});
