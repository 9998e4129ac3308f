import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { MIGRATIONS, migrate } from "../../src/store/postgres/migrations.ts";
import { NOON } from "../store/store-conformance.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";

const BEFORE = MIGRATIONS.filter(({ name }) => name < "0011");

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no lease is held across a migration", () => {});
}

describe.if(isPostgresInstalled)("a migration that takes longer than the leases of jobs", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test("ends none of them: inputs that nodes receive and chunks that they work on stay theirs", async () => {
    const sql = new SQL(await server.createDatabase(), { max: 1 });
    await migrate(sql, NOON, BEFORE);
    await sql.unsafe("SET session_replication_role = replica");
    await sql.unsafe(`
      INSERT INTO jobs (job_id, account_id, kind, status, created_at, options, chunk_count, rows, distinct_rows,
        units_per_item, processed, counts, units_charged, round, is_test, reader, read_until)
      VALUES ('job_one', 'acc_a', 'email', 'receiving', ${NOON}, '{}', 0, 0, 0, 1, 0, '{}', 0, 1, false, 'one', 1)`);
    await sql.unsafe(`
      INSERT INTO job_chunks (job_id, n, state, attempt, first_row, rows, form, rows_done, units, unchecked, line_bytes,
        owner, lease_until)
      VALUES ('job_two', 0, 'claimed', 0, 0, 1, 'text', 0, 0, 0, 0, 'two', 1),
        ('job_two', 1, 'done', 0, 1, 1, 'text', 1, 1, 0, 9, NULL, NULL)`);
    const startedMs = Date.now();
    await migrate(sql, NOON);
    const [job] = await sql`SELECT read_until FROM jobs`;
    const chunks = await sql`SELECT lease_until FROM job_chunks ORDER BY n`;
    expect(Number(job.read_until)).toBeGreaterThan(startedMs);
    expect(Number(chunks[0].lease_until)).toBeGreaterThan(startedMs);
    expect(chunks[1].lease_until).toBeNull();
    await sql.close();
  });
});
