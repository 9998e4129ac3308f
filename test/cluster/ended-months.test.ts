import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { fitsMonth, plainUnitsOfMonth } from "../../src/billing/admission.ts";
import type { NewPlanPeriod, PlanPeriodRecord } from "../../src/store/account-records.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { NOON } from "../store/store-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const RULES = { fits: fitsMonth, marksOf: () => [], plainUnits: plainUnitsOfMonth };
const NEXT = { periodStart: Date.parse("2026-12-01"), periodEnd: Date.parse("2027-01-01") };

function nextMonth(running: PlanPeriodRecord): NewPlanPeriod {
  const { accountId, plan, monthlyPriceMicroUsd, includedUnits, overagePriceMicroUsd } = running;
  const { periodStart: startsAt } = NEXT;
  return {
    ...{ accountId, plan, monthlyPriceMicroUsd, includedUnits, overagePriceMicroUsd },
    ...NEXT,
    startsAt,
  };
}

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so charges of ended months are not tested", () => {});
}

describe.if(isPostgresInstalled)("calls that began in a month which another node has ended", () => {
  let processes: TwoProcesses;
  let sequence = 0;

  beforeAll(async () => {
    processes = await openTwoProcesses();
  }, 60_000);
  beforeEach(() => processes.reset());
  afterAll(() => processes?.[Symbol.asyncDispose]());

  async function charge(by: SharedStore, planPeriodId: number, ...units: readonly number[]) {
    sequence += 1;
    const entry = { accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/x", calls: 1 };
    const admissions = units.map((each) => ({
      entry: { ...entry, units: each },
      reply: null,
      chunk: null,
      rate: null,
    }));
    return (await by.admit({ lane: "calls", sequence, admissions, others: [], keptAt: null }, RULES))
      .outcomes;
  }

  test("pass no hard stop of it, and take nothing of the month that follows", async () => {
    const { one, two } = processes;
    const periodNow = async () => {
      const running = (await one.readMonth("acc_a"))?.planPeriods.at(-1);
      if (running === undefined) throw new Error("no plan period");
      return running;
    };
    const { planPeriodId, includedUnits } = await periodNow();
    // Both nodes know the month.
    expect(await charge(one, planPeriodId, includedUnits - 10)).toEqual(["charged"]);
    expect(await charge(two, planPeriodId, 1)).toEqual(["charged"]);
    await two.enterMonth(["acc_a"], (_, running) => [nextMonth(running)]);
    const outcomes = [await charge(one, planPeriodId, 10, 5, 5), await charge(two, planPeriodId, 4, 3, 1)];
    expect(outcomes).toEqual([
      ["quota", "charged", "quota"],
      ["charged", "quota", "quota"],
    ]);
    const next = await periodNow();
    expect([next.units, await charge(two, next.planPeriodId, includedUnits, 1)]).toEqual([
      0,
      ["charged", "quota"],
    ]);
  });

  test("are announced once: a node that finds the month begun announces nothing", async () => {
    const { one, two, sql } = processes;
    const enter = async (isBegun: boolean) => {
      await sql`DELETE FROM account_changes`;
      await two.enterMonth(["acc_a"], (_, running) => (isBegun ? [] : [nextMonth(running)]));
      return one.changedAccounts(60_000);
    };
    expect([await enter(true), await enter(false), await enter(true)]).toEqual([[], ["acc_a"], []]);
  });
});
