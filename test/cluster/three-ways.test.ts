import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import { marksOf } from "../../src/billing/quota-marks.ts";
import { ledgerOf } from "../../src/billing/usage-ledger.ts";
import type { PlanPeriodRecord } from "../../src/store/account-records.ts";
import type { Admission, AdmissionGroup, AdmissionRate, AdmissionRules } from "../../src/store/admit-port.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { NOON, signUp } from "../store/store-conformance.ts";
import {
  emptyDatabase,
  isPostgresInstalled,
  type PostgresServer,
  startPostgres,
} from "../support/postgres.ts";
import { type Random, seededRandom } from "./chaos-random.ts";

const ACCOUNTS = ["acc_a", "acc_b", "acc_c", "acc_d", "acc_e"] as const;
const ENDPOINTS = ["/v1/x", "/v1/y", 'quo"ted\\(,{} NULL'] as const;
const DAY_MS = 86_400_000;
const ACTS = 300;
const MONTHS = ["2026-11-01", "2026-12-01", "2027-01-01", "2027-02-01"].map((day) => Date.parse(day));
/** Groups that follow each other within it are sent as one statement. */
const FAR_APART_MS = 1_000;
/** A step, and what a burst of four takes to be there again. */
const RATE = { stepMs: 10, burstMs: 40 };

const RULES: AdmissionRules = {
  fits: fitsMonth,
  marksOf: (month, units) => marksOf(ledgerOf(month), units, NOON),
  plainUnits: plainUnitsOfMonth,
};

/** Two nodes on a database of their own, which write their groups in one way. */
type Way = AsyncDisposable & {
  readonly name: string;
  readonly rules: AdmissionRules;
  readonly nodes: readonly [SharedStore, SharedStore];
  readonly sql: SQL;
  readonly url: string;
};

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the ways of writing a group are not compared", () => {});
}

describe.if(isPostgresInstalled)("a group of charges is written the same", () => {
  let server: PostgresServer;
  let ways: readonly Way[] = [];
  const outcomes = new Set<string>();

  beforeAll(async () => {
    server = await startPostgres();
    let elapsedMs = 0;
    const apart = () => {
      elapsedMs += FAR_APART_MS;
      return elapsedMs;
    };
    ways = [
      await openWay(server, "at once", () => 0, RULES),
      await openWay(server, "as a transaction", apart, RULES),
      await openWay(server, "decided", apart, { ...RULES, plainUnits: () => -1 }),
    ];
  }, 60_000);
  beforeEach(async () => {
    for (const { url, nodes, sql } of ways) {
      await emptyDatabase(url);
      await sql`INSERT INTO probes VALUES (0, ${NOON})`;
      for (const accountId of ACCOUNTS) await signUp(nodes[0], accountId);
      await sql`UPDATE plan_periods SET included_units = 40, overage_price_micro_usd = 1000`;
    }
  });
  afterAll(async () => {
    for (const way of ways) await way[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  /** Does something in all ways; returns what it came to, which is the same. */
  async function inAll<T>(work: (way: Way) => Promise<T>): Promise<T | string> {
    const came: { readonly name: string; readonly it: T | string }[] = [];
    for (const way of ways) came.push({ name: way.name, it: await work(way).catch(String) });
    const [first] = came;
    if (first === undefined) throw new Error("there is no way");
    expect(came).toEqual(came.map(({ name }) => ({ name, it: first.it })));
    return first.it;
  }

  test.each([1, 2])(
    "in a statement of its own, in a transaction, and decided charge by charge (%p)",
    async (seed) => {
      const random = seededRandom(seed);
      const history = createHistory(random);
      for (let n = 0; n < ACTS; n += 1) {
        const act = await history.next(ways[0]?.nodes[0]);
        const came = await inAll(act);
        for (const outcome of Array.isArray(came) ? came : []) outcomes.add(outcome);
        await inAll(tablesOf);
      }
    },
  );

  test("where a count would be too large for the database: nothing of it is written", async () => {
    const planPeriodId = (await ways[0]?.nodes[0].readMonth("acc_a"))?.planPeriods[0]?.planPeriodId ?? 0;
    const charge = (units: number): Admission => ({
      entry: { accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/x", units, calls: 1 },
      ...{ reply: null, chunk: null, rate: null },
    });
    const group = (sequence: number, admissions: readonly Admission[]): AdmissionGroup => ({
      ...{ lane: "calls", sequence: 1_000 + sequence, admissions, others: [], keptAt: null },
    });
    await inAll(({ sql }) => sql`UPDATE plan_periods SET included_units = 1000000000`);
    for (let n = 0; n < 10; n += 1) {
      await inAll(({ nodes, rules }) => nodes[0].admit(group(n, [charge(1)]), rules));
    }
    await inAll(
      ({ sql }) => sql`
        UPDATE usage_days SET units = 9223372036854775000`,
    );
    const refused = await inAll(({ nodes, rules }) => nodes[0].admit(group(11, [charge(1_000)]), rules));
    expect(refused).toContain("out of range");
    await inAll(tablesOf);
    const [events] = await (ways[0]?.sql ?? new SQL())`SELECT sum(units)::int AS units FROM usage_events`;
    expect(events).toEqual({ units: 10 });
  });

  test("and every outcome of a charge was compared", () => {
    expect([...outcomes]).toEqual(expect.arrayContaining(["charged", "quota", "rate", "invoiced"]));
  });

  test("most groups of the first way go row by row, and others as sets", async () => {
    const [way] = ways;
    const called = async (name: string): Promise<number> => {
      const [row] = await (way?.sql ?? new SQL())`
        SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_user_functions WHERE funcname = ${name}`;
      return row.calls;
    };
    for (const node of way?.nodes ?? []) node.close();
    // What a session counted is known to others once it has ended.
    while ((await called("admit_few")) === 0 || (await called("admit_at_once")) === 0) await Bun.sleep(20);
    expect(await called("admit_few")).toBeGreaterThan(ACTS / 4);
  });
});

async function openWay(
  server: PostgresServer,
  name: string,
  monotonic: () => number,
  rules: AdmissionRules,
): Promise<Way> {
  const url = await server.createDatabase();
  const open = (processId: string) =>
    openSharedStore({ url, processId, connectionsMax: 3, clock: { now: () => NOON, monotonic } });
  (await open("first")).close();
  await using stack = new AsyncDisposableStack();
  const sql = stack.adopt(new SQL(url, { max: 1 }), (each) => each.close({ timeout: 0 }));
  // The clock of the server is what the row 0 of `probes` says: the same in all ways.
  await sql.unsafe(`CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
    'SELECT to_timestamp(at / 1000.0) FROM public.probes WHERE probe_id = 0'`);
  const database = new URL(url).pathname.slice(1);
  await sql.unsafe(`ALTER DATABASE ${database} SET search_path = public, pg_catalog`);
  await sql.unsafe(`ALTER DATABASE ${database} SET track_functions = 'pl'`);
  const nodes = [await open("one"), await open("two")] as const;
  for (const node of nodes) stack.defer(() => node.close());
  const opened = stack.move();
  return { name, rules, nodes, sql, url, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** All that groups of charges write and is compared. */
async function tablesOf({ sql }: Way) {
  return {
    months: [
      ...(await sql`SELECT plan_period_id, units, calls, credited_units, ends_at, invoice_id FROM plan_periods
        ORDER BY plan_period_id`),
    ],
    events: [
      ...(await sql`SELECT account_id, plan_period_id, at, endpoint, units, count(*) FROM usage_events
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`),
    ],
    days: [...(await sql`SELECT * FROM usage_days ORDER BY account_id, day, endpoint`)],
    rates: [...(await sql`SELECT * FROM account_rates ORDER BY account_id`)],
    marks: [...(await sql`SELECT * FROM quota_marks ORDER BY account_id, period_start, percent`)],
    groups: [...(await sql`SELECT * FROM flushes ORDER BY process_id`)],
  };
}

/** Returns what became of charges. */
type Act = (way: Way) => Promise<readonly string[]>;

/** Acts of callers, of operators and of time. */
function createHistory(random: Random) {
  let sequence = 0;
  let last: { readonly place: 0 | 1; readonly group: AdmissionGroup } | null = null;
  /** By account, as callers know them: the last one runs, or has ended meanwhile. */
  const known = new Map<string, readonly PlanPeriodRecord[]>();
  const upTo = (count: number) => Math.floor(random.next() * count);
  const of = <T>(all: readonly T[]): T => all[upTo(all.length)] as T;

  function rate(): AdmissionRate | null {
    if (random.next() < 0.5) return null;
    return { ...RATE, ageMs: of([0, 0, 15.5, 100]) };
  }

  function admission(accountId: string): Admission {
    const periods = known.get(accountId) ?? [];
    const planPeriodId = (random.next() < 0.94 ? periods.at(-1) : of(periods))?.planPeriodId ?? 0;
    const entry = {
      ...{ accountId, planPeriodId, endpoint: of(ENDPOINTS), calls: of([1, 1, 1, 0]) },
      units: of([0, 1, 1, 1, 2, 3]),
      at: NOON - DAY_MS * of([0, 0, 0, 1]),
    };
    return { entry, reply: null, chunk: null, rate: entry.calls > 0 ? rate() : null };
  }

  function group(): AdmissionGroup {
    const accountIds = random.next() < 0.8 ? [of(ACCOUNTS), of(ACCOUNTS)] : ACCOUNTS;
    sequence += 1;
    const admissions = Array.from({ length: 1 + upTo(6) }, () => admission(of(accountIds)));
    const others = Array.from({ length: upTo(3) }, () => {
      const { entry } = admission(random.next() < 0.9 ? of(accountIds) : of(ACCOUNTS));
      return { ...entry, units: 0, calls: 1 };
    });
    return { lane: "calls", sequence, admissions, others, keptAt: null };
  }

  const write =
    (place: 0 | 1, asked: AdmissionGroup): Act =>
    async ({ nodes, rules }) => {
      const { outcomes, units } = await nodes[place].admit(asked, rules);
      return [...outcomes, JSON.stringify([...units].sort(([one], [other]) => one - other))];
    };

  function charges(): Act {
    last = { place: random.next() < 0.6 ? 0 : 1, group: group() };
    return write(last.place, last.group);
  }

  function change(): (node: SharedStore) => unknown {
    const accountId = of(ACCOUNTS);
    const planPeriodId = known.get(accountId)?.at(-1)?.planPeriodId ?? 0;
    const units = of([1, 5, 20]);
    const month = upTo(MONTHS.length - 1);
    const prices = { includedUnits: of([20, 60]), overagePriceMicroUsd: of([null, 1_000, 1_000]) };
    const spendLimitMicroUsd = of([null, 5_000, 20_000]);
    const act = { at: NOON, operator: "o", action: "a", accountId, details: "" };
    const invoice = { invoiceId: `inv_${accountId}`, units: 0, totalMicroUsd: 0, body: "", issuedAt: 0 };
    return of<(node: SharedStore) => unknown>([
      (node) => node.creditUnits(planPeriodId, units, act),
      (node) =>
        node.changePlan(
          accountId,
          ({ account }) => ({ ...account, spendLimitMicroUsd, started: null }),
          () => null,
        ),
      (node) =>
        node.changePlan(
          accountId,
          ({ account, planPeriods }) => {
            const running = planPeriods.at(-1);
            if (running === undefined) throw new Error("there is no plan period");
            return { ...account, started: { ...running, ...prices, startsAt: NOON } };
          },
          () => null,
        ),
      (node) =>
        node.enterMonth([accountId], (_, running) => {
          const periodStart = MONTHS[month] ?? 0;
          const periodEnd = MONTHS[month + 1] ?? 0;
          if (running.periodStart >= periodStart) return [];
          return [{ ...running, periodStart, periodEnd, startsAt: periodStart }];
        }),
      (node) =>
        node.issueInvoices(
          [{ accountId, periodStart: MONTHS[0] ?? 0, periodEnd: MONTHS[1] ?? 0 }],
          (of, all) =>
            all.every(({ endsAt }) => endsAt !== null)
              ? { invoice: { ...of, ...invoice }, event: { type: "invoice.issued", at: 0, data: {} } }
              : null,
        ),
      ...(random.next() < 0.1 ? [(node: SharedStore) => node.eraseAccount(accountId, NOON, act)] : []),
    ]);
  }

  function time(): Act {
    const ms = of([0, 1, 5, 20, 100]);
    return async ({ sql }) => {
      await sql`UPDATE probes SET at = at + ${ms}`;
      return [];
    };
  }

  return {
    /** `node` tells callers now and then in which plan periods they are. */
    async next(node: SharedStore | undefined): Promise<Act> {
      for (const accountId of ACCOUNTS) {
        if (known.has(accountId) && random.next() < 0.7) continue;
        const periods = (await node?.readMonth(accountId))?.planPeriods;
        if (periods !== undefined) known.set(accountId, periods);
      }
      const drawn = random.next();
      if (drawn < 0.7) return charges();
      if (drawn < 0.75 && last !== null) return write(last.place, last.group);
      if (drawn < 0.85) return time();
      const act = change();
      return async ({ nodes }) => {
        await act(nodes[1]);
        return [];
      };
    },
  };
}
