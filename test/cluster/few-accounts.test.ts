import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import { dayOf } from "../../src/platform/days.ts";
import type { ChargeEntry } from "../../src/store/account-records.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { rowsOf } from "../../src/store/postgres/connection/orm.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { NoRoomError, RowsHeldError, UnsettledError } from "../../src/store/storage-error.ts";
import { NOON, signUp } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };
const DAY_MS = 86_400_000;
/** Groups in a row that start as transactions before one is sent as a statement. */
const FIRST_GROUPS = 10;
/** The server waits two thirds of it for a row that another session holds. */
const DEADLINE_MS = 3_000;
const ACCOUNTS = ["acc_a", "acc_b"] as const;

type Row = { readonly [column: string]: string | number | null };
type Sums = { account_id: string; endpoint: string; day: string; units: number; calls: number };

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so groups of few accounts are not tested", () => {});
}

describe.if(isPostgresInstalled)("groups of few accounts, written row by row", () => {
  let processes: TwoProcesses;
  let sql: SQL;
  let one: SharedStore;
  let two: SharedStore;
  const planPeriodIds = new Map<string, number>();
  let sequence = 0;

  beforeAll(async () => {
    // On a clock that stands still each group follows the last one at once.
    processes = await openTwoProcesses({ monotonic: () => 0, deadlineMs: DEADLINE_MS });
    ({ one, two, sql } = processes);
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    await signUp(one, "acc_b");
    for (const accountId of ACCOUNTS) {
      planPeriodIds.set(accountId, (await one.readMonth(accountId))?.planPeriods.at(-1)?.planPeriodId ?? 0);
    }
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  function charge(accountId: string, units: number, endpoint = "/v1/x", at = NOON): ChargeEntry {
    return { accountId, planPeriodId: planPeriodIds.get(accountId) ?? 0, at, endpoint, units, calls: 1 };
  }

  function groupOf(entries: readonly ChargeEntry[], others: readonly ChargeEntry[] = []) {
    sequence += 1;
    const admissions = entries.map((entry) => ({ entry, reply: null, chunk: null, rate: null }));
    return { lane: "calls", sequence, admissions, others, keptAt: null } as const;
  }

  const admit = async (by: SharedStore, entries: readonly ChargeEntry[], others?: readonly ChargeEntry[]) =>
    by.admit(groupOf(entries, others), RULES);

  /** Takes both nodes so far that they send what needs no decision as one statement. Returns what it charged. */
  async function begin(): Promise<readonly ChargeEntry[]> {
    const charged: ChargeEntry[] = [];
    for (const node of [one, two]) {
      for (let n = 0; n < FIRST_GROUPS; n += 1) {
        const entries = ACCOUNTS.map((accountId) => charge(accountId, 1));
        await admit(node, entries);
        charged.push(...entries);
      }
    }
    return charged;
  }

  /** Takes away the other ways of writing a group that needs no decision. */
  async function onlyFew(): Promise<AsyncDisposable> {
    await sql`ALTER PROCEDURE admit_at_once RENAME TO hidden_at_once`;
    await sql`ALTER FUNCTION admit_plain RENAME TO hidden_plain`;
    return {
      [Symbol.asyncDispose]: async () => {
        await sql`ALTER PROCEDURE hidden_at_once RENAME TO admit_at_once`;
        await sql`ALTER FUNCTION hidden_plain RENAME TO admit_plain`;
      },
    };
  }

  function sumsOf(entries: readonly ChargeEntry[]): readonly Sums[] {
    const groups = Map.groupBy(entries, ({ accountId, endpoint, at }) =>
      [accountId, endpoint, dayOf(at)].join(" "),
    );
    return [...groups].toSorted().map(([name, all]) => {
      const [account_id = "", endpoint = "", day = ""] = name.split(" ");
      return {
        ...{ account_id, endpoint, day },
        units: all.reduce((sum, { units }) => sum + units, 0),
        calls: all.reduce((sum, { calls }) => sum + calls, 0),
      };
    });
  }

  const total = (sums: readonly Sums[]) => sums.reduce((sum, { units }) => sum + units, 0);

  test("add up in events, days, counters and returned counts, from two nodes at once", async () => {
    const charged = [...(await begin())];
    await using _ = await onlyFew();
    const write = async (node: SharedStore, place: number) => {
      const returned: number[] = [];
      for (let n = 0; n < 40; n += 1) {
        const order = place === 0 ? ACCOUNTS : ACCOUNTS.toReversed();
        const [first = "", second = ""] = order;
        const entries = [
          charge(first, 1 + (n % 3), `/v1/${n % 4}`),
          charge(first, 0, "/v1/free"),
          charge(first, 2, "/v1/0", NOON - DAY_MS),
          ...(n % 2 === 0 ? [charge(second, 5)] : []),
        ];
        const others = [charge(first, 0, 'quo"ted\\(,{}')];
        const { outcomes, units } = await admit(node, entries, others);
        expect(outcomes).toEqual(entries.map(() => "charged"));
        returned.push(units.get(planPeriodIds.get(first) ?? 0) ?? Number.NaN);
        charged.push(...entries, ...others);
      }
      expect(returned).toEqual(returned.toSorted((x, y) => x - y));
      expect(new Set(returned).size).toBe(40);
    };
    await Promise.all([write(one, 0), write(two, 1)]);
    const days: readonly Sums[] = await sql`
      SELECT account_id, endpoint, day, units::int, calls::int FROM usage_days
      ORDER BY (account_id || ' ' || endpoint || ' ' || day) COLLATE "C"`;
    const expected = sumsOf(charged);
    expect([...days]).toEqual([...expected]);
    const [counted] = await sql`
      SELECT sum(units)::int AS units, sum(calls)::int AS calls,
        (SELECT sum(units) FROM usage_events)::int AS events FROM plan_periods`;
    expect(counted).toEqual({ units: total(expected), calls: charged.length, events: total(expected) });
  });

  test("reach the limit of a month and do not exceed it, from two nodes at once", async () => {
    const included = 1_000;
    const before = (await begin()).filter(({ accountId }) => accountId === "acc_a").length;
    const flood = async (node: SharedStore) => {
      const all: (readonly [number, string])[] = [];
      for (let n = 0; n < 80; n += 1) {
        const entries = [charge("acc_a", 7), charge("acc_a", 1)];
        const { outcomes } = await admit(node, entries);
        for (const [index, { units }] of entries.entries()) all.push([units, outcomes[index] ?? ""]);
      }
      return all;
    };
    const told = (await Promise.all([flood(one), flood(two)])).flat();
    const sum = told.reduce(
      (units, [each, outcome]) => (outcome === "charged" ? units + each : units),
      before,
    );
    expect(sum).toBe(included);
    expect(new Set(told.map(([, outcome]) => outcome))).toEqual(new Set(["charged", "quota"]));
    const [counted] = await sql`
      SELECT units::int, (SELECT sum(units) FROM usage_events WHERE account_id = 'acc_a')::int AS events
      FROM plan_periods WHERE account_id = 'acc_a'`;
    expect(counted).toEqual({ units: included, events: included });
  });

  test("are written once where they are sent again", async () => {
    const before = total(sumsOf(await begin()));
    const group = groupOf([charge("acc_a", 3), charge("acc_b", 4)]);
    const first = await one.admit(group, RULES);
    expect(first.units.size).toBe(2);
    const again = await one.admit(group, RULES);
    expect(again).toEqual({ outcomes: first.outcomes, units: new Map() });
    const [counted] = await sql`SELECT sum(units)::int AS units FROM usage_events`;
    expect(counted).toEqual({ units: before + 7 });
  });

  test("are refused where another session locks a row, and written once it is free", async () => {
    const before = total(sumsOf(await begin()));
    const group = groupOf([charge("acc_a", 3)]);
    await using other = new SQL(processes.url, { max: 1 });
    await other`BEGIN`;
    await other`SELECT FROM accounts WHERE account_id = 'acc_a' FOR UPDATE`;
    await expect(one.admit(group, RULES)).rejects.toBeInstanceOf(RowsHeldError);
    await other`COMMIT`;
    expect((await one.admit(group, RULES)).outcomes).toEqual(["charged"]);
    const [counted] = await sql`SELECT sum(units)::int AS units FROM usage_events`;
    expect(counted).toEqual({ units: before + 3 });
  });

  test("are refused for a row that another session locks where they wait in line for it, too", async () => {
    await begin();
    await using holder = new SQL(processes.url, { max: 1 });
    await using before = new SQL(processes.url, { max: 1 });
    const lock = (client: SQL) => client`SELECT FROM accounts WHERE account_id = 'acc_a' FOR UPDATE`;
    for (const client of [holder, before]) await client`BEGIN`;
    await lock(holder);
    await before`SET lock_timeout = 1200`;
    const first = lock(before).catch(() => "gave up");
    while ((await sql`SELECT FROM pg_locks WHERE NOT granted`).length === 0);
    const refused = one.admit(groupOf([charge("acc_a", 3)]), RULES).catch((error: unknown) => error);
    expect(await first).toBe("gave up");
    await before`ROLLBACK`;
    expect(await refused).toBeInstanceOf(RowsHeldError);
    await holder`COMMIT`;
  });

  /** A node that has come so far as to send what needs no decision as one statement. */
  async function thirdNode(): Promise<SharedStore> {
    const clock = { now: () => NOON, monotonic: () => 0 };
    const node = await openSharedStore({ url: processes.url, processId: "three", clock });
    for (let n = 0; n < FIRST_GROUPS; n += 1) await admit(node, [charge("acc_a", 1)]);
    return node;
  }

  const eventsOf = async (accountId: string) =>
    (
      await sql`SELECT coalesce(sum(units), 0)::int AS units, count(*)::int AS events
        FROM usage_events WHERE account_id = ${accountId}`
    )[0];

  test("whose commit fails after it took effect are looked up, and written once", async () => {
    const database = new URL(processes.url).pathname.slice(1);
    await sql.unsafe("CREATE SEQUENCE faults");
    await sql.unsafe(`CREATE FUNCTION pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('public.faults') = ${FIRST_GROUPS} THEN
          RAISE 'out of memory' USING ERRCODE = '53200';
        END IF;
        RETURN pg_catalog.pg_logical_emit_message($1, $2, $3);
      END $$`);
    await sql.unsafe(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`);
    try {
      const node = await thirdNode();
      const before = await eventsOf("acc_a");
      let failed: unknown;
      for (let n = 0; failed === undefined && n < FIRST_GROUPS; n += 1) {
        const group = groupOf([charge("acc_a", 3)]);
        const { outcomes } = await node.admit(group, RULES).catch((error: unknown) => {
          failed = error;
          return node.admit(group, RULES);
        });
        expect(outcomes).toEqual(["charged"]);
        const { units, events } = await eventsOf("acc_a");
        expect([units, events]).toEqual([before.units + 3 * (n + 1), before.events + n + 1]);
      }
      expect(failed).toBeInstanceOf(UnsettledError);
      node.close();
    } finally {
      await sql.unsafe(`ALTER DATABASE ${database} RESET search_path`);
      await sql.unsafe("DROP FUNCTION public.pg_logical_emit_message(boolean, text, text)");
      await sql.unsafe("DROP SEQUENCE faults");
    }
  });

  test("that find the disk full are known not to be written", async () => {
    await begin();
    const before = await eventsOf("acc_a");
    await sql.unsafe(`CREATE FUNCTION refuse_room() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'no room' USING ERRCODE = 'disk_full'; END $$`);
    await sql.unsafe("CREATE TRIGGER full_disk BEFORE INSERT ON usage_events EXECUTE FUNCTION refuse_room()");
    try {
      await expect(admit(one, [charge("acc_a", 3)])).rejects.toBeInstanceOf(NoRoomError);
    } finally {
      await sql.unsafe("DROP FUNCTION refuse_room() CASCADE");
    }
    expect(await eventsOf("acc_a")).toEqual(before);
  });

  /** What a node asks for the month of acc_a as `begin` leaves it, in the order of the type `asked_month`. */
  const ASKED = {
    ...{ account_id: "acc_a", plan_period_id: 0, period_start: 0, units: 5, calls: 1, units_to: 1_000 },
    ...{ units_before: 0, credited_units: 0, spend_limit_micro_usd: null },
    ...{ taken_us: 10, burst_us: 100, age_us_min: 0, age_us_max: 0 },
  };

  /** Asks the server for it; returns what it counted, or null where it wrote nothing. */
  async function few(differing: Row = {}) {
    const [month] =
      await sql`SELECT plan_period_id::int, period_start::float FROM plan_periods WHERE account_id = 'acc_a'`;
    const asked: Row = { ...ASKED, ...month, ...differing };
    const { accountId, planPeriodId, endpoint, units, calls, at } = charge("acc_a", 5);
    const sum = [accountId, planPeriodId, at, dayOf(at), endpoint, units, calls];
    const [row] = await sql.unsafe(
      `CALL admit_few('lane', 1, '1', '{acc_a}', $1::text::asked_month[], $2::text::charge_sum[], NULL)`,
      [rowsOf([Object.values(asked)]), rowsOf([sum])],
    );
    return row.counted;
  }

  const traces = async () =>
    (
      await sql`
        SELECT (SELECT sum(units) FROM plan_periods)::int AS units, (SELECT count(*) FROM usage_events)::int AS events,
          (SELECT sum(calls) FROM usage_days)::int AS calls, (SELECT sum(full_at_us) FROM account_rates)::float AS rates,
          (SELECT count(*) FROM flushes WHERE process_id = 'lane')::int AS flushes`
    )[0];

  test("are written where the month is as the node knows it", async () => {
    await begin();
    expect(await few()).toBe(`[[${planPeriodIds.get("acc_a")},${2 * FIRST_GROUPS + 5}]]`);
    expect(await few()).toBeNull();
  });

  test.each([
    ["units that others charged since", "", { units_to: 2 * FIRST_GROUPS + 4 }],
    ["units of an earlier plan period", "", { units_before: 1 }],
    ["a credit", "UPDATE plan_periods SET credited_units = 1", {}],
    ["another spend limit", "UPDATE accounts SET spend_limit_micro_usd = 7", {}],
    ["a spend limit that is gone", "", { spend_limit_micro_usd: 7 }],
    ["a plan period that has ended", "UPDATE plan_periods SET ends_at = period_end", {}],
    ["an invoice", "UPDATE plan_periods SET invoice_id = 'inv'", {}],
    ["another month", "", { period_start: 1 }],
    ["an account that is not there", "", { account_id: "acc_none" }],
    ["a first call beyond the burst", "", { taken_us: 101 }],
    ["calls beyond the burst", "INSERT INTO account_rates VALUES ('acc_a', 9e15, 0)", {}],
  ])("are left to be decided, without a trace, where there is %s", async (_, change, differing) => {
    await begin();
    if (change !== "") await sql.unsafe(change);
    const before = await traces();
    expect(await few(differing)).toBeNull();
    expect(await traces()).toEqual(before);
  });
});
