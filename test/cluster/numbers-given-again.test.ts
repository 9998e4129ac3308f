import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import type { ChargeEntry } from "../../src/store/account-records.ts";
import type { AdmissionGroup } from "../../src/store/admit-port.ts";
import { DirectoryTurnLostError } from "../../src/store/directory-port.ts";
import { createConnection } from "../../src/store/postgres/connection/connection.ts";
import { createDirectoryFileCases } from "../../src/store/postgres/directory/directory-cases.ts";
import { NOON, signUp } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };
/** Groups in a row that start as transactions before one is sent as a statement. */
const FIRST_GROUPS = 5;
const ENDPOINTS = Array.from({ length: 9 }, (_, n) => `/v1/${n}`);

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so numbers that are given again are not tested", () => {});
}

describe.if(isPostgresInstalled)("a number that a fail-over lost, and that was given to another", () => {
  let processes: TwoProcesses;
  let nowMs = 0;
  let sequence = 0;
  /** Of the plan periods, as they were before the fail-over. */
  const numbers = new Map<string, number>();

  beforeAll(async () => {
    processes = await openTwoProcesses({ monotonic: () => nowMs });
  }, 60_000);
  beforeEach(async () => {
    const { one, reset } = processes;
    await reset();
    await signUp(one, "acc_b");
    for (const accountId of ["acc_a", "acc_b"]) {
      numbers.set(accountId, (await one.readMonth(accountId))?.planPeriods[0]?.planPeriodId ?? 0);
    }
    for (let n = 0; n < FIRST_GROUPS; n += 1) {
      const group = groupOf([charge("acc_a", "acc_a"), charge("acc_b", "acc_b")]);
      expect((await one.admit(group, RULES)).outcomes).toEqual(["charged", "charged"]);
    }
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** A charge in the plan period that was an account's before the fail-over. */
  function charge(accountId: string, formerlyOf: string, endpoint = "/v1/x", units = 1): ChargeEntry {
    return { accountId, planPeriodId: numbers.get(formerlyOf) ?? 0, at: NOON, endpoint, units, calls: 1 };
  }

  function groupOf(entries: readonly ChargeEntry[], more: Partial<AdmissionGroup> = {}): AdmissionGroup {
    sequence += 1;
    const admissions = entries.map((entry) => ({ entry, reply: null, chunk: null, rate: null }));
    return { lane: "calls", sequence, admissions, others: [], keptAt: null, ...more };
  }

  /** Both accounts have a plan period in a new log, acc_a the one that was acc_b's. */
  async function failOver(): Promise<void> {
    await processes.sql.begin(async (sql) => {
      // No unique index and no foreign key stands in the way meanwhile.
      await sql`SET LOCAL session_replication_role = replica`;
      const [a, b] = [numbers.get("acc_a") ?? 0, numbers.get("acc_b") ?? 0];
      await sql`UPDATE plan_periods SET account_id = 'nobody' WHERE plan_period_id = ${b}`;
      await sql`UPDATE plan_periods SET account_id = 'acc_b' WHERE plan_period_id = ${a}`;
      await sql`UPDATE plan_periods SET account_id = 'acc_a' WHERE plan_period_id = ${b}`;
    });
  }

  async function counted() {
    const { sql } = processes;
    return {
      months: [
        ...(await sql`SELECT account_id, units::int, calls::int FROM plan_periods ORDER BY plan_period_id`),
      ],
      days: [
        ...(await sql`SELECT account_id, sum(units)::int AS units, sum(calls)::int AS calls FROM usage_days
          GROUP BY account_id ORDER BY account_id`),
      ],
      events: [
        ...(await sql`SELECT account_id, sum(units)::int AS units FROM usage_events
          GROUP BY account_id ORDER BY account_id`),
      ],
    };
  }

  const toAnother = (endpoints = ["/v1/x"]) =>
    endpoints.map((endpoint) => charge("acc_b", "acc_b", endpoint));

  test.each([
    ["row by row", 0, () => groupOf(toAnother())],
    ["as sets", 0, () => groupOf(toAnother(ENDPOINTS))],
    ["in a transaction", 60_000, () => groupOf(toAnother())],
    ["as it is decided", 60_000, () => groupOf(toAnother(), { keptAt: NOON })],
  ])("charges no month of another account: %s", async (_, afterMs, group) => {
    await failOver();
    const before = await counted();
    nowMs += afterMs;
    const { outcomes } = await processes.one.admit(group(), RULES);
    expect(new Set(outcomes)).toEqual(new Set(["quota"]));
    expect(await counted()).toEqual(before);
    // The account's own month goes on.
    const own = groupOf([charge("acc_b", "acc_a")]);
    expect((await processes.one.admit(own, RULES)).outcomes).toEqual(["charged"]);
  });

  test.each([
    ["beside charges of its present account", 0, {}],
    ["beside some that are decided", 60_000, { keptAt: NOON }],
  ])("counts calls of no units by their day alone: %s", async (_, afterMs, more) => {
    await failOver();
    const ofPresent = () => [charge("acc_a", "acc_b")];
    const others = [charge("acc_b", "acc_b", "/v1/x", 0)];
    for (let n = 0; n < FIRST_GROUPS; n += 1) await processes.one.admit(groupOf(ofPresent()), RULES);
    const { months, days, events } = await counted();
    nowMs += afterMs;
    const group = groupOf(ofPresent(), { others, ...more });
    expect((await processes.one.admit(group, RULES)).outcomes).toEqual(["charged"]);
    const [a, b] = days;
    const [ofA, ofB] = events;
    expect(await counted()).toEqual({
      months: months.map((month) =>
        month.account_id === "acc_a" ? { ...month, units: month.units + 1, calls: month.calls + 1 } : month,
      ),
      days: [
        { ...a, units: a.units + 1, calls: a.calls + 1 },
        { ...b, calls: b.calls + 1 },
      ],
      events: [{ ...ofA, units: ofA.units + 1 }, ofB],
    });
  });

  test("lets no former leader of the directory publish in the term of another", async () => {
    const { one, two, sql, url } = processes;
    const clock = { now: () => NOON, monotonic: () => performance.now() };
    const limits = { connectionsMax: 1, deadlineMs: 3_000 };
    const connection = createConnection({ urls: [url], isPooled: false, clock, ...limits });
    try {
      const files = (processId: string) => createDirectoryFileCases(connection, processId);
      const publication = { state: "{}", files: [], syncedAt: 1, upstreamAgeMs: 0 };
      const { term } = await one.takeDirectoryTurn();
      expect(await files("one").publishDirectory(term ?? 0, publication)).toBe(1);
      // What was written when the turn was taken is lost.
      await sql`UPDATE directory_state SET owner = NULL, lease_until = NULL, term = term - 1`;
      expect((await two.takeDirectoryTurn()).term).toBe(term);
      const late = files("one").publishDirectory(term ?? 0, publication);
      await expect(late).rejects.toBeInstanceOf(DirectoryTurnLostError);
      expect(await files("two").publishDirectory(term ?? 0, publication)).toBe(2);
    } finally {
      connection.close();
    }
  });
});
