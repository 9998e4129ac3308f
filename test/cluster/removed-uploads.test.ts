import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { jobRecord } from "../store/job-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

/** Frames of 256 KB at most: what one transaction removes in its time on a slow disk. */
const AT_ONCE_MAX = 200;
const FRAMES = 450;

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the removal of uploads is not tested", () => {});
}

describe.if(isPostgresInstalled)("an upload of many pieces", () => {
  let processes: TwoProcesses;

  beforeAll(async () => {
    processes = await openTwoProcesses();
    const { sql } = processes;
    await sql`CREATE TABLE removals (transaction_id bigint, rows integer)`;
    await sql`CREATE FUNCTION note_removal() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO removals SELECT txid_current(), count(*) FROM gone; RETURN NULL; END $$`;
    await sql`CREATE TRIGGER noted AFTER DELETE ON job_part_frames REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION note_removal()`;
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    await processes.sql`TRUNCATE removals`;
    await processes.one.createJob(jobRecord("job_1"), null, 9);
    await processes.sql`INSERT INTO job_part_frames (part_id, frame, job_id, body, written_at)
      SELECT 'p' || n % 3, n, 'job_1', 'x', 0 FROM generate_series(1, ${FRAMES}) AS n`;
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Rows that each transaction has removed. */
  async function removals(): Promise<readonly number[]> {
    const rows = await processes.sql`SELECT sum(rows)::int AS removed FROM removals GROUP BY transaction_id`;
    return rows.map(({ removed }: { readonly removed: number }) => removed);
  }

  async function left(): Promise<number> {
    const [row] = await processes.sql`SELECT count(*)::int AS frames FROM job_part_frames`;
    return row.frames;
  }

  test("is removed in transactions of few pieces each, so that none takes longer than it may", async () => {
    for (const n of [0, 1, 2]) {
      await processes.sql`INSERT INTO job_parts (job_id, n, account_id, part_id, bytes)
        VALUES ('job_1', ${n}, 'acc_a', ${`p${n}`}, 1)`;
    }
    await processes.two.removeAbandonedFrames(0);
    expect(await left()).toBe(FRAMES);
    await processes.one.removeParts("job_1");
    expect([await left(), await processes.one.partsOf("job_1")]).toEqual([0, []]);
    expect(Math.max(...(await removals()))).toBeLessThan(AT_ONCE_MAX);
  });

  test("is removed in such transactions where nobody completed it, also by two nodes at once", async () => {
    const { one, two } = processes;
    await Promise.all([one.removeAbandonedFrames(0), two.removeAbandonedFrames(0)]);
    expect(await left()).toBe(0);
    expect(Math.max(...(await removals()))).toBeLessThan(AT_ONCE_MAX);
  });
});
