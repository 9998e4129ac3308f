import { describe, expect, test } from "bun:test";
import { DEFAULT_PLANS, plansView } from "../../src/billing/plans.ts";
import { readPlans } from "../../src/billing/plans-file.ts";
import { emailUnits, isEmailCharged, isOutcomeCharged } from "../../src/billing/units.ts";

describe("catalogue", () => {
  test("contains the four plans with their prices", () => {
    const rows = plansView(DEFAULT_PLANS).plans.map((plan) => Object.values(plan).join(" "));
    expect(rows).toEqual([
      "free 0.00 1000  10 20 100 1000 1",
      "starter 29.00 25000 0.001500 50 100 1000 100000 3",
      "growth 149.00 250000 0.000800 200 400 10000 1000000 10",
      "scale 749.00 2500000 0.000400 1000 2000 100000 10000000 30",
    ]);
    expect(plansView(DEFAULT_PLANS).plans[0]?.overage_unit_price_usd).toBeNull();
  });

  test("of the API is accepted as an operator's own", () => {
    const read = readPlans(JSON.stringify(plansView(DEFAULT_PLANS)));
    expect(read).toEqual({ ok: true, plans: DEFAULT_PLANS });
  });

  test("is sorted by price", () => {
    const view = plansView(DEFAULT_PLANS);
    expect(readPlans(JSON.stringify({ ...view, plans: view.plans.toReversed() }))).toEqual({
      ok: true,
      plans: DEFAULT_PLANS,
    });
  });

  test("with faults is refused, and every fault is reported", () => {
    const view = plansView(DEFAULT_PLANS);
    const [free, starter, growth] = view.plans;
    const plans = [
      { ...free, included_units: -1, burst: 1.5 },
      { ...starter, monthly_price_usd: 29, overage_unit_price_usd: "0,1", max_batch_size: "many" },
      { ...growth, plan: "gold", monthly_price_usd: "149.001" },
      "scale",
    ];
    expect(readPlans(JSON.stringify({ currency: "EUR", plans }))).toEqual({
      ok: false,
      problems: [
        'currency must be "USD"',
        "plans[0].included_units must be an integer from 0 to 1000000000",
        "plans[0].burst must be an integer from 1 to 1000000000",
        'plans[1].monthly_price_usd must be a string such as "29.00"',
        'plans[1].overage_unit_price_usd must be a string such as "0.001500" or null',
        "plans[1].max_batch_size must be an integer from 1 to 1000000000",
        "plans[2].plan must be one of free, starter, growth, scale",
        'plans[2].monthly_price_usd must be a string such as "29.00"',
        "plans[3] must be an object",
      ],
    });
  });

  test("must have each plan once, at a price of its own", () => {
    const view = plansView(DEFAULT_PLANS);
    const problemsOf = (plans: unknown) => readPlans(JSON.stringify({ currency: "USD", plans }));
    expect(problemsOf(view.plans.slice(1))).toEqual({ ok: false, problems: ["the plan free is missing"] });
    const twice = [...view.plans, { ...view.plans[0], monthly_price_usd: "1.00" }];
    expect(problemsOf(twice)).toEqual({ ok: false, problems: ["the plan free is given 2 times"] });
    const even = view.plans.map((plan) => ({ ...plan, monthly_price_usd: "5.00" }));
    expect(problemsOf(even)).toMatchObject({ ok: false });
  });

  test.each(["", "nonsense", "null", "[]", "{}", '{"plans":{}}'])(
    "%j is refused with one sentence",
    (json) => {
      const read = readPlans(json);
      expect(read.ok ? [] : read.problems).toHaveLength(1);
    },
  );
});

describe("units", () => {
  test("deep checks cost two; a check whose look-up failed is free", () => {
    expect([emailUnits(false), emailUnits(true)]).toEqual([1, 2]);
    expect(["dns_timeout", "dns_error", "check_failed"].some(isEmailCharged)).toBe(false);
    expect(
      ["accepts_mail", "dns_not_checked", "mx_unresolvable", "invalid_syntax"].every(isEmailCharged),
    ).toBe(true);
    expect([null, "checksum", "check_failed"].map(isOutcomeCharged)).toEqual([true, true, false]);
  });
});
