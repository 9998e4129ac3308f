import { expect, test } from "bun:test";
import { createDeliveryShares } from "../../src/webhooks/delivery-shares.ts";
import { handClock } from "../billing/accounting.ts";

const HOUR_MS = 3_600_000;

/** Shares of four attempts, of which slow accounts have two. */
function world() {
  const clock = handClock();
  const shares = createDeliveryShares({ inFlightMax: 4, overflow: 1, accountInFlightMax: 3 }, clock);
  const attempt = (accountId: string, tookMs: number) => {
    const end = shares.begin(accountId);
    clock.advance(tookMs);
    end();
  };
  return { clock, shares, attempt };
}

test("an account is slow for an hour behind an attempt that took five seconds", () => {
  const { clock, shares, attempt } = world();
  attempt("a", 4_999);
  attempt("b", 5_000);
  for (const accountId of ["a", "b"]) shares.begin(accountId);
  expect(shares.full()).toEqual(["b"]);
  clock.advance(HOUR_MS - 1);
  expect(shares.full()).toEqual(["b"]);
  clock.advance(1);
  expect(shares.full()).toEqual([]);
});

test("slow accounts that have their half are all full, and other accounts have the rest", () => {
  const { shares, attempt } = world();
  for (const accountId of ["a", "b", "c"]) attempt(accountId, 15_000);
  for (const accountId of ["a", "b"]) shares.begin(accountId);
  expect(shares.full()).toEqual(["a", "b", "c"]);
  const ends = [shares.begin("d"), shares.begin("d")];
  expect(shares.full()).toBeNull();
  for (const end of ends) end();
  expect(shares.full()).toEqual(["a", "b", "c"]);
});

test("at most 1,024 slow accounts are remembered, the last ones", () => {
  const { clock, shares } = world();
  const ends = Array.from({ length: 1_025 }, (_, n) => shares.begin(`acc_${n}`));
  clock.advance(5_000);
  for (const end of ends) end();
  for (const accountId of ["acc_1024", "acc_1023"]) shares.begin(accountId);
  const full = shares.full() ?? [];
  expect([full.length, full.includes("acc_0"), full.includes("acc_1")]).toEqual([1_024, false, true]);
});
