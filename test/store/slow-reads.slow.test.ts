import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { sql } from "drizzle-orm";
import { type Connection, createConnection } from "../../src/store/postgres/connection/connection.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

const DEADLINE_MS = 500;
const SLOW = sql`SELECT pg_sleep(600)`;
const LOCKED = sql`SELECT count(*) FROM notes`;

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so slow reads are not tested", () => {});
}

describe.if(isPostgresInstalled)("a read that takes longer than its deadline", () => {
  let server: PostgresServer;
  let url: string;
  let other: SQL;

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
    other = new SQL(url, { max: 2 });
    await other`CREATE TABLE notes (text text)`;
  }, 60_000);
  afterAll(async () => {
    await other?.close({ timeout: 0 });
    await server?.[Symbol.asyncDispose]();
  });

  /** Runs a read while others are answered, until well past the time in which its pool would be given up. */
  async function beside(connection: Connection, slow: typeof SLOW) {
    const refused = connection.read((orm) => orm.execute(slow)).catch((error: unknown) => error);
    const failures: unknown[] = [];
    const untilMs = performance.now() + 4 * DEADLINE_MS;
    while (performance.now() < untilMs) {
      // Half of the others are under way at any moment.
      const others = [0, 10].map((ms) =>
        connection.read((orm) => orm.execute(sql`SELECT pg_sleep(${ms / 1_000}::float)`)),
      );
      for (const { status, ...outcome } of await Promise.allSettled(others)) {
        if (status === "rejected") failures.push(outcome);
      }
    }
    const running = await other`
      SELECT pid FROM pg_stat_activity WHERE state <> 'idle' AND pid <> pg_backend_pid() AND backend_type = 'client backend'
        AND query NOT LIKE 'LOCK%'`;
    return { refused: await refused, failures, running: running.length };
  }

  const ended = { refused: expect.any(StorageError), failures: [], running: 0 };

  test.each([true, false])(
    "is ended by the server, and harms no other read (behind a pooler: %p)",
    async (isPooled) => {
      const clock = { now: () => 0, monotonic: () => performance.now() };
      const options = { urls: [url], isPooled, connectionsMax: 4, deadlineMs: DEADLINE_MS, clock };
      const connection = createConnection(options);
      try {
        expect(await beside(connection, SLOW)).toEqual(ended);
        await other.begin(async (locking) => {
          await locking`LOCK TABLE notes`;
          expect(await beside(connection, LOCKED)).toEqual(ended);
        });
      } finally {
        connection.close();
      }
    },
    30_000,
  );
});
