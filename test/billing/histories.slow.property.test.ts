import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { confirmClock } from "../../src/billing/billing-clock.ts";
import { DEFAULT_PLANS, type PlanCatalogue } from "../../src/billing/plans.ts";
import type { Reservation } from "../../src/billing/reservation.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { PLAN_NAMES, type PlanName } from "../../src/contract/words.ts";
import {
  type Accounting,
  type HandClock,
  handClock,
  openAccounting,
  signUp,
  withDirectory,
} from "./accounting.ts";
import { checkBooks } from "./books.ts";
import { createPlanOracle } from "./plan-oracle.ts";

// Small numbers, so that random histories run into every limit.
const PLANS: PlanCatalogue = DEFAULT_PLANS.map((plan, index) => ({
  ...plan,
  includedUnits: [10, 25, 60, 100][index] ?? 0,
  overagePriceMicroUsd: [null, 1_500_000, 800_000, 400_000][index] ?? null,
}));

const ENDPOINTS = ["/v1/email/verify", "/v1/email/batch", "/v1/phone/validate"];
const DAY_MS = 86_400_000;

type Step =
  | { readonly do: "signup"; readonly plan: PlanName }
  | {
      readonly do: "charge";
      readonly account: number;
      readonly units: readonly number[];
      readonly spare: number;
    }
  | { readonly do: "hold"; readonly account: number; readonly units: number }
  | { readonly do: "recordHeld"; readonly units: number }
  | { readonly do: "releaseHeld" }
  | { readonly do: "call"; readonly account: number }
  | {
      readonly do: "plan";
      readonly account: number;
      readonly plan: PlanName;
      readonly limit: number | null | undefined;
    }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "setBack"; readonly ms: number }
  | {
      readonly do: "jump";
      readonly account: number;
      readonly days: number;
      readonly isConfirmed: boolean;
    }
  | { readonly do: "dropped"; readonly account: number; readonly units: number; readonly dies: boolean }
  | { readonly do: "bill" }
  | { readonly do: "restart" }
  | { readonly do: "crash"; readonly account: number; readonly units: number };

const account = fc.nat({ max: 3 });
const plan = fc.constantFrom(...PLAN_NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("signup"), plan }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("charge"),
      account,
      units: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 3 }),
      spare: fc.nat({ max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("hold"), account, units: fc.nat({ max: 20 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("recordHeld"), units: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("releaseHeld") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("call"), account }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("plan"),
      account,
      plan,
      limit: fc.option(fc.option(fc.nat({ max: 400_000_000 }), { nil: null }), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("advance"), ms: fc.integer({ min: 1, max: 20 * DAY_MS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("setBack"), ms: fc.integer({ min: 1, max: 3_600_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("jump"),
      account,
      days: fc.integer({ min: 36, max: 400 }),
      isConfirmed: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("dropped"),
      account,
      units: fc.integer({ min: 1, max: 9 }),
      dies: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("bill") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart") }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("crash"), account, units: fc.integer({ min: 1, max: 9 }) }),
  },
) as fc.Arbitrary<Step>;

/** A database to begin with: making one anew takes longer than most histories. */
const EMPTY_DATABASE = await withDirectory((dataDir) => {
  openAccounting({ clock: handClock("2026-01-15T12:00:00Z"), dataDir, plans: PLANS }).store.close();
  return readFileSync(join(dataDir, "assay.db"));
});

/** What callers were answered: the truth that the database is held against. */
class History {
  readonly root: string;
  readonly clock: HandClock = handClock("2026-01-15T12:00:00Z");
  readonly accountIds: string[] = [];
  readonly ackedUnits = new Map<string, number>();
  readonly ackedCalls = new Map<string, number>();
  readonly seenInvoices = new Map<string, string>();
  readonly oracle = createPlanOracle(PLANS);
  held: {
    readonly reservation: Reservation;
    readonly count: (units: number) => void;
    left: number;
    isCounted: boolean;
  }[] = [];
  directories = 0;
  keys = 0;
  dataDir: string;
  accounting: Accounting;

  constructor(root: string) {
    this.root = root;
    this.dataDir = join(root, "data-0");
    mkdirSync(this.dataDir);
    writeFileSync(join(this.dataDir, "assay.db"), EMPTY_DATABASE);
    this.accounting = openAccounting({ clock: this.clock, dataDir: this.dataDir, plans: PLANS });
  }

  pick(index: number): string | undefined {
    return this.accountIds[index % Math.max(1, this.accountIds.length)];
  }

  acked(accountId: string, units: number, calls: number): void {
    this.ackedUnits.set(accountId, (this.ackedUnits.get(accountId) ?? 0) + units);
    this.ackedCalls.set(accountId, (this.ackedCalls.get(accountId) ?? 0) + calls);
  }

  reserve(accountId: string, units: number): Reservation | null {
    this.oracle.begin(accountId, this.clock.now());
    try {
      return this.accounting.meter.reserve({ accountId }, units);
    } catch (error) {
      if (error instanceof ApiError && error.code === "quota_exceeded") return null;
      throw error;
    }
  }

  async take(step: Step): Promise<void> {
    const accountId = "account" in step ? this.pick(step.account) : undefined;
    switch (step.do) {
      case "signup":
        return this.signUp(step.plan);
      case "charge":
        return accountId === undefined ? undefined : this.charge(accountId, step.units, step.spare);
      case "hold": {
        const reservation = accountId === undefined ? null : this.reserve(accountId, step.units);
        if (reservation === null) return;
        const count = this.oracle.begin(reservation.accountId, this.clock.now());
        this.held.push({ reservation, count, left: step.units, isCounted: false });
        return;
      }
      case "recordHeld":
        return this.recordHeld(step.units);
      case "releaseHeld":
        return this.held.shift()?.reservation.release();
      case "call":
        if (accountId === undefined) return;
        this.accounting.meter.countCall({ accountId }, "/v1/account");
        this.oracle.begin(accountId, this.clock.now())(0);
        return this.acked(accountId, 0, 1);
      case "plan":
        if (accountId === undefined) return;
        this.accounting.accounts.changePlan(accountId, { plan: step.plan, spendLimitMicroUsd: step.limit });
        this.oracle.change(accountId, step.plan, this.clock.now());
        return;
      case "advance":
        this.clock.advance(step.ms);
        // Several of them without a charge are more than is believed.
        return this.accounting.billingClock.doubt() === null ? undefined : this.confirm();
      case "setBack":
        return this.clock.set(this.clock.now() - step.ms);
      case "jump":
        return this.jump(accountId, step.days, step.isConfirmed);
      case "dropped":
        return accountId === undefined ? undefined : this.dropped(accountId, step.units, step.dies);
      case "bill":
        await this.accounting.billing.issueDue();
        return this.oracle.touchAll(this.clock.now());
      case "restart":
        return this.restart();
      case "crash":
        return this.crash(accountId, step.units);
    }
  }

  signUp(plan: PlanName): void {
    if (this.accountIds.length === 4) return;
    const { accountId } = signUp(this.accounting, plan);
    this.accountIds.push(accountId);
    this.oracle.signUp(accountId, plan, this.clock.now());
  }

  confirm(): void {
    confirmClock(this.accounting.store, this.clock.now());
    this.clock.advance(1_000);
    expect(this.accounting.billingClock.doubt()).toBeNull();
  }

  /** A clock further ahead than is believed: nothing is charged or issued until it is confirmed or set right. */
  async jump(accountId: string | undefined, days: number, isConfirmed: boolean): Promise<void> {
    const before = this.clock.now();
    // Set back before, it may not be ahead of what was kept by that much.
    const keptAt = this.accounting.store.findKeptClock()?.keptAt ?? before;
    this.clock.set(Math.max(before, keptAt) + days * DAY_MS);
    expect(await this.accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
    if (accountId !== undefined) {
      expect(() => this.accounting.meter.reserve({ accountId }, 1)).toThrow(
        "The clock of the server is in doubt",
      );
    }
    if (isConfirmed) return this.confirm();
    this.clock.set(before);
  }

  /** A call with an Idempotency-Key whose reply is lost on its way, and its retry, after a kill or without one. */
  async dropped(accountId: string, units: number, dies: boolean): Promise<void> {
    this.keys += 1;
    const key = `key-${this.keys}`;
    const start = this.accounting.idempotency.begin(accountId, key, "fingerprint", "the key");
    if (start.state !== "fresh") throw new Error(`a new key is ${start.state}`);
    const reservation = this.reserve(accountId, units);
    if (reservation !== null) {
      const count = this.oracle.begin(accountId, this.clock.now());
      const reply = start.call.keep({ status: 200, headers: {}, body: `${units}` });
      await reservation.record({ endpoint: "/v1/email/batch", units }, reply);
      reservation.release();
      count(units);
      this.acked(accountId, units, 1);
    }
    start.call.end();
    if (dies) await this.crash(undefined, 0);
    const retried = this.accounting.idempotency.begin(accountId, key, "fingerprint", "the key");
    expect(retried.state).toBe(reservation === null ? "fresh" : "replay");
    if (retried.state === "replay") expect(retried.reply.body).toBe(`${units}`);
    if (retried.state === "fresh") retried.call.end();
  }

  async charge(accountId: string, chunks: readonly number[], spare: number): Promise<void> {
    const units = chunks.reduce((total, chunk) => total + chunk, 0);
    const reservation = this.reserve(accountId, units + spare);
    if (reservation === null) return;
    const count = this.oracle.begin(accountId, this.clock.now());
    for (const chunk of chunks) {
      await reservation.record({ endpoint: ENDPOINTS[chunk % ENDPOINTS.length] ?? "", units: chunk });
    }
    reservation.release();
    count(units);
    this.acked(accountId, units, 1);
  }

  async recordHeld(wanted: number): Promise<void> {
    const first = this.held[0];
    if (first === undefined) return;
    const units = Math.min(wanted, first.left);
    await first.reservation.record({ endpoint: "/v1/email/batch", units });
    first.count(units);
    this.acked(first.reservation.accountId, units, first.isCounted ? 0 : 1);
    first.left -= units;
    first.isCounted = true;
  }

  async restart(): Promise<void> {
    await this.accounting.meter.close();
    this.accounting.store.close();
    this.held = [];
    this.accounting = openAccounting({ clock: this.clock, dataDir: this.dataDir, plans: PLANS });
  }

  /** What the disk holds at this moment goes on elsewhere; memory, and charges on their way, are lost. */
  async crash(accountId: string | undefined, units: number): Promise<void> {
    this.accounting.meter.flush();
    const dying = accountId === undefined ? null : this.reserve(accountId, units);
    dying?.record({ endpoint: "/v1/email/verify", units }).catch(() => {});
    this.directories += 1;
    const dataDir = join(this.root, `data-${this.directories}`);
    mkdirSync(dataDir);
    for (const name of ["assay.db", "assay.db-wal"]) cpSync(join(this.dataDir, name), join(dataDir, name));
    await this.accounting.meter.close();
    this.accounting.store.close();
    this.held = [];
    this.dataDir = dataDir;
    this.accounting = openAccounting({ clock: this.clock, dataDir, plans: PLANS });
  }

  /** Everything that must hold at any time, read by a connection of its own. */
  check(): void {
    this.accounting.meter.flush();
    checkBooks(join(this.dataDir, "assay.db"), this.seenInvoices, (totals) => {
      for (const id of this.accountIds) {
        const units = this.ackedUnits.get(id) ?? 0;
        const calls = this.ackedCalls.get(id) ?? 0;
        expect(totals.get(id)).toEqual({ units, calls });
      }
    });
  }

  /** Once all calls have ended and the month is over, every unit is on exactly one invoice. */
  async settle(): Promise<void> {
    for (const { reservation } of this.held) reservation.release();
    this.clock.advance(32 * DAY_MS);
    if (this.accounting.billingClock.doubt() !== null) this.confirm();
    const result = await this.accounting.billing.issueDue();
    this.oracle.touchAll(this.clock.now());
    expect(result.waiting).toBe(0);
    expect((await this.accounting.billing.issueDue()).issued).toBe(0);
    this.check();
    const database = new Database(join(this.dataDir, "assay.db"), { readonly: true });
    const invoiced = database.query<{ units: number }, []>("SELECT sum(units) AS units FROM invoices").get();
    this.checkCosts(database);
    database.close();
    const acked = [...this.ackedUnits.values()].reduce((total, units) => total + units, 0);
    expect(invoiced?.units ?? 0).toBe(acked);
    await this.accounting.meter.close();
    this.accounting.store.close();
  }

  /** No month costs less than its units under the plans that were held while they were used, nor more. */
  checkCosts(database: Database): void {
    type Row = { id: string; month: number; total: number };
    const sql = "SELECT account_id AS id, period_start AS month, total_micro_usd AS total FROM invoices";
    const issued = database.query<Row, []>(sql).all();
    const costs = this.oracle.costs();
    const asIssued = new Map(issued.map(({ id, month, total }) => [`${id} ${month}`, BigInt(total)]));
    for (const [month, cost] of costs) expect(asIssued.get(month) ?? -1n).toBeGreaterThanOrEqual(cost);
    expect(new Map([...asIssued].toSorted())).toEqual(new Map([...costs].toSorted()));
    invoicesCompared += issued.length;
  }
}

/** `HISTORIES=1000 bun test test/billing/histories.slow.property.test.ts` tries more. */
const RUNS = Number(process.env.HISTORIES ?? 250);
const TIMEOUT_MS = RUNS * 1_000;
const SEED = Number(process.env.SEED ?? 20_261_120);
/** The database is read by a connection of its own once in this many steps, and at the end. */
const STEPS_PER_LOOK = 8;

let invoicesCompared = 0;

/** In memory where the system has such a disk: what is proved here is what is written, not that the disk keeps it. */
async function withQuickDirectory(use: (path: string) => Promise<void>): Promise<void> {
  if (!existsSync("/dev/shm")) return withDirectory(use);
  const path = mkdtempSync("/dev/shm/assay-histories-");
  try {
    await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

test(
  "whatever happens, events, counters and invoices agree, no hard stop is passed, and no order of plans makes a unit cheaper",
  async () => {
    const startedMs = performance.now();
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), (drawn) =>
        withQuickDirectory(async (root) => {
          const history = new History(root);
          await history.take({ do: "signup", plan: "free" });
          for (const [index, next] of drawn.entries()) {
            await history.take(next);
            if (index % STEPS_PER_LOOK === 0) history.check();
          }
          await history.settle();
          steps += drawn.length;
        }),
      ),
      { numRuns: RUNS, seed: SEED },
    );
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    process.stdout.write(
      `${RUNS} histories (seed ${SEED}), ${steps} steps, ${invoicesCompared} invoices as the oracle has them, ${seconds} s\n`,
    );
    expect(invoicesCompared).toBeGreaterThan(RUNS);
  },
  TIMEOUT_MS,
);
