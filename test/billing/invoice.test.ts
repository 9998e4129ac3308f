import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { invoiceLines, invoiceView, projectedTotal, totalOf } from "../../src/billing/invoice.ts";
import { periodOf } from "../../src/billing/period.ts";
import { basePrices, includedShare, type PlanPeriod, splitUnits } from "../../src/billing/plan-shares.ts";
import { DEFAULT_PLANS, planOf } from "../../src/billing/plans.ts";
import { PLAN_NAMES, type PlanName } from "../../src/contract/words.ts";

const NOVEMBER = periodOf(Date.parse("2026-11-10T00:00:00Z"));

/** A plan period that lasts to the end of November unless another follows it. */
function planPeriod(
  plan: PlanName,
  startsAt: string,
  units: number,
  endsAt = "2026-12-01T00:00:00Z",
): PlanPeriod {
  return {
    ...planOf(DEFAULT_PLANS, plan),
    startsAt: Date.parse(startsAt),
    endsAt: Date.parse(endsAt),
    units,
    creditedUnits: 0,
  };
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

  test("shares price and units by the second when the plan was upgraded", () => {
    // A third of the month on starter, two thirds on growth.
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 0, "2026-11-11T00:00:00Z"),
      planPeriod("growth", "2026-11-11T00:00:00Z", 0),
    ];
    expect(basePrices(NOVEMBER, periods)).toEqual([9_666_667, 99_333_333]);
    expect(periods.map((held) => includedShare(NOVEMBER, held))).toEqual([8_334, 166_667]);
    const second = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 0, "2026-11-30T23:59:59.900Z"),
      planPeriod("growth", "2026-11-30T23:59:59.900Z", 0),
    ];
    expect(basePrices(NOVEMBER, second)).toEqual([28_999_989, 57]);
    expect(second.map((held) => includedShare(NOVEMBER, held))).toEqual([25_000, 1]);
  });

  test("30 seconds of scale cost 30 seconds' share of its price and have that share of its units; further units are overage", () => {
    const periods = [
      planPeriod("free", "2026-11-01T00:00:00Z", 1_000, "2026-11-30T23:59:30Z"),
      planPeriod("scale", "2026-11-30T23:59:30Z", 100_000),
    ];
    const amounts = invoiceLines(NOVEMBER, periods).map(({ quantity, amountMicroUsd }) => [
      quantity,
      amountMicroUsd,
    ]);
    expect(amounts).toEqual([
      [1, 0],
      [1_000, 0],
      [1, 8_669],
      [29, 0],
      [99_971, 39_988_400],
    ]);
  });

  test("the first month of an account on a paid plan counts from the signup, on the free plan its units are whole", () => {
    const scale = planPeriod("scale", "2026-11-28T00:00:00.999Z", 0);
    expect(basePrices(NOVEMBER, [scale])).toEqual([74_900_000]);
    expect(includedShare(NOVEMBER, scale)).toBe(250_000);
    expect(includedShare(NOVEMBER, planPeriod("free", "2026-11-30T23:59:59Z", 0))).toBe(1_000);
  });

  test("bills each unit under the plan of its use; units left over do not carry over to another plan", () => {
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 10_000, "2026-11-16T00:00:00Z"),
      planPeriod("growth", "2026-11-16T00:00:00Z", 130_000),
    ];
    expect(splitUnits(NOVEMBER, periods)).toEqual([
      { included: 10_000, credited: 0, overage: 0 },
      { included: 125_000, credited: 0, overage: 5_000 },
    ]);
    const amounts = invoiceLines(NOVEMBER, periods).map(({ amountMicroUsd }) => amountMicroUsd);
    expect(amounts).toEqual([14_500_000, 0, 74_500_000, 0, 4_000_000]);
  });

  test("units used ahead of a plan's time cost its overage price where an upgrade ends it early", () => {
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 20_000, "2026-11-02T00:00:00Z"),
      planPeriod("growth", "2026-11-02T00:00:00Z", 0),
    ];
    expect(splitUnits(NOVEMBER, periods)[0]).toEqual({ included: 834, credited: 0, overage: 19_166 });
    // A plan without an overage price: what a unit costs in it.
    const stopped = periods.map((held) => ({ ...held, overagePriceMicroUsd: null }));
    const beyond = invoiceLines(NOVEMBER, stopped).find(({ quantity }) => quantity === 19_166);
    expect(beyond?.unitPriceMicroUsd).toBe(29_000_000 / 25_000);
  });

  test("credited units pay for units beyond the included ones, in the order of use", () => {
    const periods = [
      planPeriod("starter", "2026-11-01T00:00:00Z", 12_600, "2026-11-16T00:00:00Z"),
      { ...planPeriod("growth", "2026-11-16T00:00:00Z", 125_050), creditedUnits: 120 },
    ];
    expect(splitUnits(NOVEMBER, periods)).toEqual([
      { included: 12_500, credited: 100, overage: 0 },
      { included: 125_000, credited: 20, overage: 30 },
    ]);
  });

  test("the units of a free plan are granted once a month, however often it is held", () => {
    const periods = [
      planPeriod("free", "2026-11-01T00:00:00Z", 600, "2026-11-10T00:00:00Z"),
      planPeriod("scale", "2026-11-10T00:00:00Z", 0, "2026-11-11T00:00:00Z"),
      planPeriod("free", "2026-11-11T00:00:00Z", 500),
    ];
    expect(splitUnits(NOVEMBER, periods).map(({ included }) => included)).toEqual([600, 0, 400]);
  });

  test("adds up for any month: shares to the whole month, lines to the total, units to the units", () => {
    const month = fc.integer({ min: 0, max: 1_200 }).map((count) => periodOf(Date.UTC(2026, count, 1)));
    const part = fc.record({
      at: fc.double({ min: 0, max: 0.999, noNaN: true }),
      units: fc.nat({ max: 4_000_000 }),
    });
    const accounting = fc.array(part, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(month, accounting, (period, drawn) => {
        const ordered = drawn.toSorted((a, b) => a.at - b.at);
        const startOf = (at: number): number => period.start + Math.floor(at * (period.end - period.start));
        const periods = ordered.map(({ at, units }, index) => ({
          ...planOf(DEFAULT_PLANS, PLAN_NAMES[index] ?? "scale"),
          startsAt: index === 0 ? period.start : startOf(at),
          endsAt: startOf(ordered[index + 1]?.at ?? 1),
          units,
          creditedUnits: 0,
        }));
        const even = periods.map((entry) => ({
          ...entry,
          monthlyPriceMicroUsd: 29_000_000,
          includedUnits: 25_000,
        }));
        const shared = basePrices(period, even).reduce((total, share) => total + share, 0);
        expect(Math.abs(shared - 29_000_000)).toBeLessThanOrEqual(periods.length);
        const included = even.reduce((total, held) => total + includedShare(period, held), 0);
        expect(included).toBeGreaterThanOrEqual(25_000);
        expect(included).toBeLessThan(25_000 + periods.length);
        const lines = invoiceLines(period, periods);
        expect(
          lines.every((line) => Number.isSafeInteger(line.amountMicroUsd) && line.amountMicroUsd >= 0),
        ).toBe(true);
        const units = lines
          .filter(({ unit }) => unit === "unit")
          .reduce((total, line) => total + line.quantity, 0);
        expect(units).toBe(periods.reduce((total, entry) => total + entry.units, 0));
        for (const [index, split] of splitUnits(period, periods).entries()) {
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

  test("extrapolates the use so far", () => {
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
