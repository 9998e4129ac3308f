import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { confirmClock } from "../../src/billing/billing-clock.ts";
import { DEFAULT_PLANS, PLAN_NAMES, type PlanCatalogue, type PlanName } from "../../src/billing/plans.ts";
import type { Reservation } from "../../src/billing/reservation.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { checkBooks } from "./books.ts";
import { type HandClock, handClock, openParts, type Parts, signUp, withDirectory } from "./parts.ts";

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
  { weight: 2, arbitrary: fc.record({ do: fc.constant("bill") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart") }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("crash"), account, units: fc.integer({ min: 1, max: 9 }) }),
  },
) as fc.Arbitrary<Step>;

/** What callers were told: the truth that the database is held against. */
class History {
  readonly root: string;
  readonly clock: HandClock = handClock("2026-01-15T12:00:00Z");
  readonly accountIds: string[] = [];
  readonly ackedUnits = new Map<string, number>();
  readonly ackedCalls = new Map<string, number>();
  readonly seenInvoices = new Map<string, string>();
  held: { readonly reservation: Reservation; left: number; isCounted: boolean }[] = [];
  directories = 0;
  dataDir: string;
  parts: Parts;

  constructor(root: string) {
    this.root = root;
    this.dataDir = join(root, "data-0");
    this.parts = openParts({ clock: this.clock, dataDir: this.dataDir, plans: PLANS });
  }

  pick(index: number): string | undefined {
    return this.accountIds[index % Math.max(1, this.accountIds.length)];
  }

  acked(accountId: string, units: number, calls: number): void {
    this.ackedUnits.set(accountId, (this.ackedUnits.get(accountId) ?? 0) + units);
    this.ackedCalls.set(accountId, (this.ackedCalls.get(accountId) ?? 0) + calls);
  }

  reserve(accountId: string, units: number): Reservation | null {
    try {
      return this.parts.meter.reserve({ accountId }, units);
    } catch (error) {
      if (error instanceof ApiError && error.code === "quota_exceeded") return null;
      throw error;
    }
  }

  async take(step: Step): Promise<void> {
    const accountId = "account" in step ? this.pick(step.account) : undefined;
    switch (step.do) {
      case "signup":
        if (this.accountIds.length < 4) this.accountIds.push(signUp(this.parts, step.plan).accountId);
        return;
      case "charge":
        return accountId === undefined ? undefined : this.charge(accountId, step.units, step.spare);
      case "hold": {
        const reservation = accountId === undefined ? null : this.reserve(accountId, step.units);
        if (reservation !== null) this.held.push({ reservation, left: step.units, isCounted: false });
        return;
      }
      case "recordHeld":
        return this.recordHeld(step.units);
      case "releaseHeld":
        return this.held.shift()?.reservation.release();
      case "call":
        if (accountId === undefined) return;
        this.parts.meter.countCall({ accountId }, "/v1/account");
        return this.acked(accountId, 0, 1);
      case "plan":
        if (accountId === undefined) return;
        this.parts.accounts.changePlan(accountId, { plan: step.plan, spendLimitMicroUsd: step.limit });
        return;
      case "advance":
        this.clock.advance(step.ms);
        return confirmClock(this.parts.store, this.clock.now());
      case "setBack":
        return this.clock.set(this.clock.now() - step.ms);
      case "bill":
        await this.parts.billing.issueDue();
        return;
      case "restart":
        return this.restart();
      case "crash":
        return this.crash(accountId, step.units);
    }
  }

  async charge(accountId: string, chunks: readonly number[], spare: number): Promise<void> {
    const units = chunks.reduce((total, chunk) => total + chunk, 0);
    const reservation = this.reserve(accountId, units + spare);
    if (reservation === null) return;
    for (const chunk of chunks) {
      await reservation.record({ endpoint: ENDPOINTS[chunk % ENDPOINTS.length] ?? "", units: chunk });
    }
    reservation.release();
    this.acked(accountId, units, 1);
  }

  async recordHeld(wanted: number): Promise<void> {
    const first = this.held[0];
    if (first === undefined) return;
    const units = Math.min(wanted, first.left);
    await first.reservation.record({ endpoint: "/v1/email/batch", units });
    this.acked(first.reservation.accountId, units, first.isCounted ? 0 : 1);
    first.left -= units;
    first.isCounted = true;
  }

  async restart(): Promise<void> {
    await this.parts.meter.close();
    this.parts.store.close();
    this.held = [];
    this.parts = openParts({ clock: this.clock, dataDir: this.dataDir, plans: PLANS });
  }

  /** What the disk holds at this moment goes on elsewhere; memory, and charges on their way, are lost. */
  async crash(accountId: string | undefined, units: number): Promise<void> {
    this.parts.meter.flush();
    const dying = accountId === undefined ? null : this.reserve(accountId, units);
    dying?.record({ endpoint: "/v1/email/verify", units }).catch(() => {});
    this.directories += 1;
    const dataDir = join(this.root, `data-${this.directories}`);
    mkdirSync(dataDir);
    for (const name of ["assay.db", "assay.db-wal"]) cpSync(join(this.dataDir, name), join(dataDir, name));
    await this.parts.meter.close();
    this.parts.store.close();
    this.held = [];
    this.dataDir = dataDir;
    this.parts = openParts({ clock: this.clock, dataDir, plans: PLANS });
  }

  /** Everything that must hold at any time, read by a connection of its own. */
  check(): void {
    this.parts.meter.flush();
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
    const result = await this.parts.billing.issueDue();
    expect(result.waiting).toBe(0);
    expect((await this.parts.billing.issueDue()).issued).toBe(0);
    this.check();
    const database = new Database(join(this.dataDir, "assay.db"), { readonly: true });
    const invoiced = database.query<{ units: number }, []>("SELECT sum(units) AS units FROM invoices").get();
    database.close();
    const acked = [...this.ackedUnits.values()].reduce((total, units) => total + units, 0);
    expect(invoiced?.units ?? 0).toBe(acked);
    await this.parts.meter.close();
    this.parts.store.close();
  }
}

test("whatever happens, events, counters and invoices agree, and no hard stop is passed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) =>
      withDirectory(async (root) => {
        const history = new History(root);
        await history.take({ do: "signup", plan: "free" });
        for (const next of steps) {
          await history.take(next);
          history.check();
        }
        await history.settle();
      }),
    ),
    { numRuns: Number(process.env.HISTORIES ?? 60), seed: Number(process.env.SEED ?? 20_261_120) },
  );
}, 60_000);
