import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  basePrices,
  invoiceLines,
  invoiceView,
  type PlanPeriod,
  projectedTotal,
  splitUnits,
  totalOf,
} from "../../src/billing/invoice.ts";
import { periodOf } from "../../src/billing/period.ts";
import { DEFAULT_PLANS, PLAN_NAMES, type PlanName, planOf } from "../../src/billing/plans.ts";

const NOVEMBER = periodOf(Date.parse("2026-11-10T00:00:00Z"));

function planPeriod(plan: PlanName, startsAt: string, units: number): PlanPeriod {
  return { ...planOf(DEFAULT_PLANS, plan), startsAt: Date.parse(startsAt), units };
}

describe("invoice", () => {
  test("of a whole month on one plan is its price and the units beyond the included", () => {
    const view = invoiceView("acc_x", NOVEMBER, [planPeriod("starter", "2026-11-01T00:00:00Z", 26_000)]);
    expect(view).toEqual({
      invoice_id: "inv_202611_x",
      status: "issued",
      plan: "starter",
      period_start: "2026-11-01T00:00:00Z",
      period_end: "2026-12-01T00:00:00Z",
      lines: [
        { description: "Starter plan", quantity: 1, unit_price_usd: "29.00", amount_usd: "29.00" },
        {
          description: "Starter plan: included units",
          quantity: 25_000,
          unit_price_usd: "0.000000",
          amount_usd: "0.00",
        },
        {
          description: "Starter plan: units beyond the included",
          quantity: 1_000,
          unit_price_usd: "0.001500",
          amount_usd: "1.50",
        },
      ],
      total_usd: "30.50",
    });
  });

  test("shares the price by the second when the plan was upgraded", () => {
    // A third of the month on starter, two thirds on growth.
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 0),
      planPeriod("growth", "2026-11-11T00:00:00Z", 0),
    ];
    expect(basePrices(NOVEMBER, periods)).toEqual([9_666_667, 99_333_333]);
    const second = [periods[0], planPeriod("growth", "2026-11-30T23:59:59.900Z", 0)].filter(
      (p) => p !== undefined,
    );
    expect(basePrices(NOVEMBER, second)).toEqual([28_999_989, 57]);
  });

  test("the month of signup is paid whole, as its included units are whole", () => {
    expect(basePrices(NOVEMBER, [planPeriod("scale", "2026-11-29T00:00:00Z", 0)])).toEqual([749_000_000]);
  });

  test("bills each unit under the plan it was used under, and none twice", () => {
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 30_000),
      planPeriod("growth", "2026-11-16T00:00:00Z", 240_000),
    ];
    // 5,000 were paid one by one before the upgrade: growth still includes 225,000.
    expect(splitUnits(periods)).toEqual([
      { included: 25_000, overage: 5_000 },
      { included: 225_000, overage: 15_000 },
    ]);
    const amounts = invoiceLines(NOVEMBER, periods).map(({ amountMicroUsd }) => amountMicroUsd);
    expect(amounts).toEqual([14_500_000, 0, 7_500_000, 74_500_000, 0, 12_000_000]);
  });

  test("adds up for any month: shares to the whole month, lines to the total, units to the units", () => {
    const month = fc.integer({ min: 0, max: 1_200 }).map((count) => periodOf(Date.UTC(2026, count, 1)));
    const part = fc.record({
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      units: fc.nat({ max: 4_000_000 }),
    });
    const parts = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(month, parts, (period, drawn) => {
        const ordered = drawn.toSorted((a, b) => a.at - b.at);
        const periods = ordered.map(({ at, units }, index) => ({
          ...planOf(DEFAULT_PLANS, PLAN_NAMES[index] ?? "scale"),
          startsAt: period.start + Math.floor(at * (period.end - period.start)),
          units,
        }));
        const even = periods.map((entry) => ({ ...entry, monthlyPriceMicroUsd: 29_000_000 }));
        const shared = basePrices(period, even).reduce((total, share) => total + share, 0);
        expect(Math.abs(shared - 29_000_000)).toBeLessThanOrEqual(periods.length);
        const lines = invoiceLines(period, periods);
        expect(
          lines.every((line) => Number.isSafeInteger(line.amountMicroUsd) && line.amountMicroUsd >= 0),
        ).toBe(true);
        const units = lines
          .filter(({ unit }) => unit === "unit")
          .reduce((total, line) => total + line.quantity, 0);
        expect(units).toBe(periods.reduce((total, entry) => total + entry.units, 0));
        for (const [index, split] of splitUnits(periods).entries()) {
          expect(split.included + split.overage).toBe(periods[index]?.units ?? -1);
          expect(Math.min(split.included, split.overage)).toBeGreaterThanOrEqual(0);
        }
        expect(totalOf(lines)).toBeGreaterThanOrEqual(basePrices(period, periods).reduce((a, b) => a + b, 0));
      }),
      { numRuns: 300, seed: 20_261_120 },
    );
  });
});

describe("projection", () => {
  const start = NOVEMBER.start;
  const at = (now: string, spendLimitMicroUsd: number | null = null, activeSince = start) => ({
    now: Date.parse(now),
    activeSince,
    spendLimitMicroUsd,
  });
  const starter = (units: number) => [planPeriod("starter", "2026-11-01T00:00:00Z", units)];

  test("goes on as fast as so far", () => {
    // Half of the month: 20,000 become 40,000, which is 15,000 over.
    expect(projectedTotal(NOVEMBER, starter(20_000), at("2026-11-16T00:00:00Z"))).toBe(
      29_000_000 + 22_500_000,
    );
  });

  test("is never under the base price, nor under what is due already", () => {
    expect(projectedTotal(NOVEMBER, starter(0), at("2026-11-01T00:00:00Z"))).toBe(29_000_000);
    expect(projectedTotal(NOVEMBER, starter(26_000), at("2026-11-30T23:59:59Z"))).toBeGreaterThanOrEqual(
      30_500_000,
    );
  });

  test("takes the first day of use as a whole one", () => {
    const minute = at("2026-11-20T00:01:00Z", null, Date.parse("2026-11-20T00:00:00Z"));
    expect(projectedTotal(NOVEMBER, starter(100), minute)).toBe(29_000_000);
  });

  test("stops at the spend limit and at a hard stop", () => {
    expect(projectedTotal(NOVEMBER, starter(20_000), at("2026-11-16T00:00:00Z", 35_000_000))).toBe(
      35_000_000,
    );
    expect(projectedTotal(NOVEMBER, starter(26_000), at("2026-11-16T00:00:00Z", 0))).toBe(30_500_000);
    const free = [planPeriod("free", "2026-11-01T00:00:00Z", 900)];
    expect(projectedTotal(NOVEMBER, free, at("2026-11-03T00:00:00Z"))).toBe(0);
  });
});
