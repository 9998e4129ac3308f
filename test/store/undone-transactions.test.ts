import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import { type Connection, createConnection } from "../../src/store/postgres/connection/connection.ts";
import type { Orm } from "../../src/store/postgres/connection/orm.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so transactions that it ends are not tested", () => {});
}

describe.if(isPostgresInstalled)(
  "a transaction that the server ends, as its process was held up in it",
  () => {
    let server: PostgresServer;
    let other: SQL;
    let connection: Connection;

    beforeAll(async () => {
      server = await startPostgres();
      const url = await server.createDatabase();
      other = new SQL(url, { max: 1 });
      await other`CREATE TABLE notes (try integer)`;
      const clock = { now: () => 0, monotonic: () => performance.now() };
      connection = createConnection({
        urls: [url],
        isPooled: false,
        connectionsMax: 2,
        deadlineMs: 20_000,
        clock,
      });
    }, 60_000);
    afterAll(async () => {
      connection?.close();
      await other?.close({ timeout: 0 });
      await server?.[Symbol.asyncDispose]();
    });

    /** Waits between two statements until the server has ended the transaction, which it does after a millisecond. */
    async function holdUp(orm: Orm): Promise<void> {
      const [row] = await orm.execute<{ readonly pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
      await orm.execute(sql`SET LOCAL idle_in_transaction_session_timeout = 1`);
      while ((await other`SELECT 1 FROM pg_stat_activity WHERE pid = ${row?.pid ?? 0}`).length > 0);
    }

    test("is repeated once, and nothing of the first run is left", async () => {
      let tries = 0;
      const answer = await connection.transact(async (orm) => {
        tries += 1;
        await orm.execute(sql`INSERT INTO notes VALUES (${tries})`);
        if (tries === 1) await holdUp(orm);
        await orm.execute(sql`SELECT 1`);
        return tries;
      });
      expect(answer).toBe(2);
      expect(await other`SELECT try FROM notes`).toEqual([{ try: 2 }]);
    });

    test("is given up where it is ended a second time, and nothing of it is left", async () => {
      await other`DELETE FROM notes`;
      let tries = 0;
      const late = async () =>
        connection.transact(async (orm) => {
          tries += 1;
          await orm.execute(sql`INSERT INTO notes VALUES (${tries})`);
          await holdUp(orm);
          await orm.execute(sql`SELECT 1`);
        });
      await expect(late()).rejects.toBeInstanceOf(StorageError);
      expect([tries, await other`SELECT try FROM notes`]).toEqual([2, []]);
    });
  },
);
