import { expect, test } from "bun:test";
import type { Admission } from "../../src/store/admit-port.ts";
import { createRateCheck } from "../../src/store/postgres/admission/rate-rows.ts";

const NOW_US = 1_000_000_000;

/** Calls of an account with ten a second and a burst of five, whose stored rate is ahead of the clock. */
function callsAt(aheadMs: number) {
  const state = { fullAtUs: NOW_US + aheadMs * 1_000, ageUsMax: 0, nowUs: NOW_US, isChanged: false };
  const passes = createRateCheck(new Map([["acc_a", state]]));
  const call = {
    entry: { accountId: "acc_a" },
    rate: { stepMs: 100, burstMs: 500, ageMs: 0 },
  } as unknown as Admission;
  return { state, passed: (count: number) => Array.from({ length: count }, () => passes(call)) };
}

test("a rate that is used up refuses calls", () => {
  expect(callsAt(0).passed(6)).toEqual([true, true, true, true, true, false]);
  expect(callsAt(500).passed(2)).toEqual([false, false]);
});

test("after the clock of the database was set back an account has its rate again with the next call", () => {
  const { state, passed } = callsAt(3_600_000);
  expect(passed(3)).toEqual([true, false, false]);
  expect(state).toMatchObject({ fullAtUs: NOW_US + 500_000, isChanged: true });
});
