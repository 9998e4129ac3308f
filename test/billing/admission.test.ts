import { describe, expect, test } from "bun:test";
import { fitsMonth } from "../../src/billing/admission.ts";
import type { AccountMonth, PlanPeriodRecord } from "../../src/store/account-records.ts";

const START = Date.parse("2026-11-01");
const END = Date.parse("2026-12-01");
const UPGRADE = Date.parse("2026-11-16");

const FREE = { plan: "free", monthlyPriceMicroUsd: 0, includedUnits: 1_000, overagePriceMicroUsd: null };
const STARTER = {
  plan: "starter",
  monthlyPriceMicroUsd: 29_000_000,
  includedUnits: 25_000,
  overagePriceMicroUsd: 1_500,
};

type Ran = Pick<PlanPeriodRecord, "startsAt" | "endsAt" | "units"> & Partial<PlanPeriodRecord>;

function monthOf(spendLimitMicroUsd: number | null, ...planPeriods: readonly Ran[]): AccountMonth {
  const account = {
    accountId: "acc_a",
    email: "a@good.com",
    normalized: "a@good.com",
    name: null,
    company: null,
    country: null,
    referralCode: null,
    plan: "starter",
    pendingPlan: null,
    spendLimitMicroUsd,
    createdAt: START,
    suspendedAt: null,
    erasedAt: null,
  };
  const rest = { accountId: "acc_a", periodStart: START, periodEnd: END, calls: 0, invoiceId: null };
  const records = planPeriods.map((ran, at) => ({
    ...FREE,
    ...rest,
    planPeriodId: at + 1,
    creditedUnits: 0,
    ...ran,
  }));
  return { account, planPeriods: records };
}

const entryOf = (planPeriodId: number, units: number) => ({
  accountId: "acc_a",
  planPeriodId,
  at: UPGRADE,
  endpoint: "/v1/x",
  units,
  calls: 1,
});

describe("charges of calls that began under a plan which has ended meanwhile", () => {
  const ended = { startsAt: START, endsAt: UPGRADE };
  const running = { ...STARTER, startsAt: UPGRADE, endsAt: null, units: 0 };

  test("pass no hard stop of it, however many there are", () => {
    const month = monthOf(null, { ...ended, units: 700 }, running);
    const entries = [200, 101, 100, 1, 0].map((units) => entryOf(1, units));
    expect(fitsMonth(month, entries)).toEqual([true, false, true, false, true]);
    expect(fitsMonth(month, [entryOf(1, 301), entryOf(2, 20_000)])).toEqual([false, true]);
  });

  test("may have what their share of the month includes, whatever the spend limit", () => {
    const month = (limit: number | null) => monthOf(limit, { ...ended, ...STARTER, units: 12_400 }, running);
    expect(fitsMonth(month(0), [entryOf(1, 100), entryOf(1, 1)])).toEqual([true, false]);
    expect(fitsMonth(month(null), [entryOf(1, 100), entryOf(1, 20_000)])).toEqual([true, true]);
  });

  test("pass no spend limit of the month, to which all its plans count", () => {
    // The base prices and a hundred units.
    const month = (units: number) =>
      monthOf(29_150_000, { ...ended, ...STARTER, units: 12_500 }, { ...running, units });
    expect(fitsMonth(month(0), [entryOf(1, 101), entryOf(1, 100), entryOf(1, 1)])).toEqual([
      false,
      true,
      false,
    ]);
    expect(fitsMonth(month(0), [entryOf(1, 100), entryOf(2, 12_500), entryOf(2, 1)])).toEqual([
      true,
      true,
      false,
    ]);
    expect(fitsMonth(month(12_600), [entryOf(1, 1), entryOf(1, 0)])).toEqual([false, true]);
  });
});
