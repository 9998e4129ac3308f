import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import { NOON } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the way of a group is not tested", () => {});
}

describe.if(isPostgresInstalled)("a group that needs no decision", () => {
  let processes: TwoProcesses;
  let nowMs = 0;
  let sequence = 0;

  beforeAll(async () => {
    processes = await openTwoProcesses({ monotonic: () => nowMs });
    await processes.sql.unsafe("CREATE TABLE seen (n serial, statement text)");
    await processes.sql.unsafe(`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO seen (statement) VALUES (current_query());
        RETURN NEW;
      END $$`);
    await processes.sql`CREATE TRIGGER seen BEFORE INSERT OR UPDATE ON flushes FOR EACH ROW EXECUTE FUNCTION see()`;
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    // What was charged before is long ago.
    nowMs += 60_000;
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Charges once, `ms` after the charge before it was answered. Returns how the group was sent. */
  async function chargeAfter(ms: number): Promise<"statement" | "transaction"> {
    nowMs += ms;
    sequence += 1;
    const planPeriodId = (await processes.one.readMonth("acc_a"))?.planPeriods.at(-1)?.planPeriodId ?? 0;
    const entry = { accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/x", units: 1, calls: 1 };
    const admissions = [{ entry, reply: null, chunk: null, rate: null }];
    const group = { lane: "calls", sequence, admissions, others: [], keptAt: null } as const;
    expect((await processes.one.admit(group, RULES)).outcomes).toEqual(["charged"]);
    const [last] = await processes.sql`SELECT statement FROM seen ORDER BY n DESC LIMIT 1`;
    return `${last?.statement}`.startsWith("CALL ") ? "statement" : "transaction";
  }

  const chargesAfter = async (...waits: readonly number[]) => {
    const ways: string[] = [];
    for (const ms of waits) ways.push(await chargeAfter(ms));
    return ways;
  };

  test("is one statement after two in close succession, and a transaction before", async () => {
    expect(await chargesAfter(0, 1, 1, 1)).toEqual(["transaction", "transaction", "statement", "statement"]);
  });

  test("is a transaction where groups are not in close succession", async () => {
    expect(await chargesAfter(0, 25, 25, 25, 25)).toEqual(new Array(5).fill("transaction"));
  });

  test("is still one statement after a short stall, and a transaction again after a second", async () => {
    await chargesAfter(0, 1, 1);
    expect(await chargesAfter(999, 999)).toEqual(["statement", "statement"]);
    expect(await chargesAfter(1_000, 1)).toEqual(["transaction", "transaction"]);
  });
});
