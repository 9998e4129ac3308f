import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import type { FinishedChunk } from "../../src/store/job-records.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { claimed, finishedChunk, startedJob } from "../store/job-conformance.ts";
import { NOON, unitsOf } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so what nodes charge for chunks is not tested", () => {});
}

describe.if(isPostgresInstalled)("what two nodes charge for chunks of a job", () => {
  let processes: TwoProcesses;
  let sql: SQL;
  let one: SharedStore;
  let two: SharedStore;
  let sequence = 0;

  beforeAll(async () => {
    processes = await openTwoProcesses();
    ({ one, two, sql } = processes);
  }, 60_000);
  beforeEach(() => processes.reset());
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Charges for a chunk; the first charge of a node is decided, as it does not know the month yet. */
  async function charge(by: SharedStore, chunk: FinishedChunk): Promise<string | undefined> {
    const planPeriodId = (await by.readMonth("acc_a"))?.planPeriods.at(-1)?.planPeriodId ?? 0;
    const entry = { accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/jobs", units: chunk.units };
    sequence += 1;
    const admissions = [{ entry: { ...entry, calls: 0 }, reply: null, chunk, rate: null }];
    const group = { lane: "chunks", sequence, admissions, others: [], keptAt: null } as const;
    const first = await by.admit(group, RULES);
    // Sent again, as after an answer that was lost.
    expect((await by.admit(group, RULES)).outcomes).toEqual(first.outcomes);
    return first.outcomes[0];
  }

  test("are written the same whether they had to be decided or were known to fit, each once", async () => {
    await startedJob(one, "job_1", 3);
    for (let n = 0; n < 3; n += 1) {
      const chunk = await claimed(one, "job_1");
      const part = { rowsDone: 4, isWhole: false, processed: 4, units: 4, lineBytes: 20, attemptsAfter: 2 };
      expect(await charge(one, finishedChunk("job_1", chunk, part))).toBe("charged");
      const rest = await claimed(one, "job_1");
      expect(rest).toMatchObject({ n, rowsDone: 4, attempt: 3 });
      const last = finishedChunk("job_1", rest, { processed: 5, unchecked: 1, units: 6, lineBytes: 30 });
      expect(await charge(one, last)).toBe("charged");
    }
    const rows: readonly object[] = await sql`
      SELECT state, attempt, rows_done, units, unchecked, line_bytes, owner, lease_until,
        (SELECT json_agg(json_build_array(rows_done, encode(body, 'hex')) ORDER BY rows_done) FROM job_results r
          WHERE r.job_id = c.job_id AND r.n = c.n)::text LIKE '[[4, "00ff800a006_"], [10, "00ff800a006_"]]' AS results
      FROM job_chunks c ORDER BY n`;
    const done = {
      state: "done",
      attempt: "0",
      rows_done: "10",
      units: "10",
      unchecked: "1",
      line_bytes: "50",
    };
    expect(rows).toEqual(rows.map(() => ({ ...done, owner: null, lease_until: null, results: true })));
    expect(rows).toHaveLength(3);
    expect(await unitsOf(one, "acc_a")).toBe(30);
    const job = await one.findJob("job_1");
    expect([job?.processed, job?.unitsCharged]).toEqual([27, 30]);
    expect(JSON.parse(job?.counts ?? "")).toEqual({ deliverable: 54, unknown: 6 });
  });

  test("is nothing where another node took the chunk over, whatever the node has cached of the month", async () => {
    await startedJob(one, "job_1", 3);
    for (let n = 0; n < 3; n += 1) {
      const lost = finishedChunk("job_1", await claimed(one, "job_1"));
      await sql`UPDATE job_chunks SET lease_until = 0 WHERE owner = 'one'`;
      await two.reapChunks();
      const taken = finishedChunk("job_1", await claimed(two, "job_1"));
      expect(await charge(one, lost)).toBe("chunk_lost");
      expect(await unitsOf(one, "acc_a")).toBe(n * 10);
      expect(await charge(two, taken)).toBe("charged");
      expect(await charge(one, lost)).toBe("chunk_lost");
    }
    const [sums] = await sql`
      SELECT (SELECT sum(units) FROM usage_events)::int AS events, (SELECT count(*) FROM job_results)::int AS results`;
    expect(sums).toEqual({ events: 30, results: 3 });
    expect(await unitsOf(two, "acc_a")).toBe(30);
  });
});
