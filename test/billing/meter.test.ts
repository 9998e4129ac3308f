import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createMeter } from "../../src/billing/meter.ts";
import type { Reservation } from "../../src/billing/reservation.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { type Accounting, charge, handClock, openAccounting, signUp } from "./accounting.ts";

const ENDPOINT = "/v1/email/verify";

function replyRecord(accountId: string, idempotencyKey: string) {
  const body = { bodyBytes: 1, headers: "{}", bodyFile: null, body: "x" };
  return { ...body, accountId, idempotencyKey, fingerprint: "f", status: 200, expiresAt: 1 };
}

function refusalOf(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** A meter over a store that is not quite the one of its accounts. */
const meterOver = ({ plans, billingClock: clock }: Accounting, store: Accounting["store"]) =>
  createMeter({ store, plans, clock, planChanged: () => {} });

describe("hard stop", () => {
  test("of 1,000 calls at once with 10 units left exactly 10 pass", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 990);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 1_000 }, async () => {
        // Calls do something between the reservation and the record.
        const reservation = accounting.meter.reserve({ accountId }, 1);
        await new Promise((resolve) => setImmediate(resolve));
        await reservation.record({ endpoint: ENDPOINT, units: 1 });
        reservation.release();
      }),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(outcomes.length - refused.length).toBe(10);
    expect(
      refused.every(({ reason }) => reason instanceof ApiError && reason.code === "quota_exceeded"),
    ).toBe(true);
    expect(accounting.accounts.view(accountId).usage).toMatchObject({ units: 1_000, remaining_units: 0 });
  });

  test("a batch over the units left is refused as a whole; the message names need, use, limit and time", async () => {
    const accounting = openAccounting({ clock: handClock("2026-11-30T23:59:30.500Z") });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 990);
    const refusal = refusalOf(() => accounting.meter.reserve({ accountId }, 11));
    expect(refusal.code).toBe("quota_exceeded");
    expect(refusal.message).toContain("needs 11 units; 990 of the 1000 units of the free plan");
    expect(refusal.message).toContain("2026-12-01T00:00:00Z");
    expect(refusal.retryAfterSeconds).toBe(30);
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(10);
    accounting.meter.reserve({ accountId }, 10).release();
  });

  test("units that a call does not charge are released at its end, once", () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 1_000);
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(0);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1)).code).toBe("quota_exceeded");
    reservation.release();
    reservation.release();
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(1_000);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1_001)).code).toBe("quota_exceeded");
  });

  test("calls of no units pass when the units are used up", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 1_000);
    await charge(accounting, accountId, 0);
    expect(accounting.accounts.view(accountId).usage.calls).toBe(2);
  });

  test("a new month brings new units", async () => {
    const clock = handClock("2026-11-30T23:59:59Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 1_000);
    clock.advance(1_000);
    await charge(accounting, accountId, 1_000);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1)).code).toBe("quota_exceeded");
  });
});

describe("record", () => {
  test("a batch that is charged in pieces is one call", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 30);
    await reservation.record({ endpoint: "/v1/email/batch", units: 10 });
    await reservation.record({ endpoint: "/v1/email/batch", units: 0 });
    await reservation.record({ endpoint: "/v1/email/batch", units: 12 });
    expect(reservation.chargedUnits()).toBe(22);
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(970);
    reservation.release();
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(978);
    const { usage } = accounting.accounts.view(accountId);
    expect(usage.by_endpoint).toEqual([{ endpoint: "/v1/email/batch", calls: 1, units: 22 }]);
  });

  test("charging more than is reserved, or after the release, is a bug and charges nothing", () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 5);
    expect(() => reservation.record({ endpoint: ENDPOINT, units: 6 })).toThrow("5 are held");
    expect(() => reservation.record({ endpoint: ENDPOINT, units: -1 })).toThrow("cannot be recorded");
    expect(() => reservation.record({ endpoint: ENDPOINT, units: 0.5 })).toThrow("cannot be recorded");
    reservation.release();
    expect(() => reservation.record({ endpoint: ENDPOINT, units: 0 })).toThrow("released");
    expect(accounting.accounts.view(accountId).usage).toMatchObject({ units: 0, calls: 0 });
  });

  test("a kept reply is written with its charge or not at all, whatever happens to others of the group", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 3);
    const other = accounting.meter.reserve({ accountId }, 7);
    // No column takes half a status.
    const broken = { ...replyRecord(accountId, "broken"), status: 0.5 };
    const failing = reservation.record({ endpoint: ENDPOINT, units: 3 }, broken);
    const kept = replyRecord(accountId, "kept");
    const neighbour = other.record({ endpoint: ENDPOINT, units: 7 }, kept);
    await expect(failing).rejects.toThrow("cannot store REAL");
    await neighbour;
    expect(accounting.store.findReply(accountId, "kept")).toEqual(kept);
    expect(accounting.store.findReply(accountId, "broken")).toBeNull();
    expect(accounting.accounts.view(accountId).usage).toMatchObject({ units: 7, calls: 1 });
    expect(reservation.chargedUnits()).toBe(0);
    reservation.release();
    expect(accounting.meter.month({ accountId }).remainingUnits).toBe(993);
  });

  test("charges that come together share a transaction", async () => {
    const accounting = openAccounting({ clock: handClock() });
    let transactions = 0;
    const record: typeof accounting.store.record = (...values) => {
      transactions += 1;
      accounting.store.record(...values);
    };
    const store = { ...accounting.store, record };
    const meter = meterOver(accounting, store);
    const { accountId } = signUp(accounting, "growth");
    await Promise.all(
      Array.from({ length: 500 }, () =>
        meter.reserve({ accountId }, 1).record({ endpoint: ENDPOINT, units: 1 }),
      ),
    );
    expect(transactions).toBe(1);
    expect(accounting.accounts.view(accountId).usage.units).toBe(500);
  });

  test("a call does not wait for running chunks of jobs", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    for (let n = 0; n < 20; n += 1) accounting.meter.reserve({ accountId }, 1, { isCall: false });
    const reservation = accounting.meter.reserve({ accountId }, 1);
    const timers = spyOn(globalThis, "setTimeout");
    await reservation.record({ endpoint: ENDPOINT, units: 1 });
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  test("a charge is not acknowledged before the log is on the disk, and does not block the thread", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { promise, resolve } = Promise.withResolvers<void>();
    let syncs = 0;
    const sync = () => {
      syncs += 1;
      return promise;
    };
    const store = { ...accounting.store, sync } as typeof accounting.store;
    const meter = meterOver(accounting, store);
    const { accountId } = signUp(accounting);
    let acknowledged = 0;
    const charge = async () => {
      await meter.reserve({ accountId }, 1).record({ endpoint: ENDPOINT, units: 1 });
      acknowledged += 1;
    };
    const first = charge();
    await new Promise(setImmediate);
    const later = [charge(), charge()];
    await new Promise(setImmediate);
    expect({ syncs, acknowledged, waiting: meter.waiting() }).toEqual({
      syncs: 1,
      acknowledged: 0,
      waiting: 2,
    });
    resolve();
    await Promise.all([first, ...later]);
    expect({ syncs, acknowledged }).toEqual({ syncs: 2, acknowledged: 3 });
  });

  test("when the disk fails, every waiter is rejected, nothing is counted, and the next charge works", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    let isFull = true;
    const record: typeof accounting.store.record = (...values) => {
      if (isFull) throw new StorageError("SQLITE_FULL: database or disk is full");
      accounting.store.record(...values);
    };
    const store = { ...accounting.store, record };
    const meter = meterOver(accounting, store);
    meter.countCall({ accountId }, "/v1/account");
    const reservations = Array.from({ length: 10 }, () => meter.reserve({ accountId }, 100));
    const records = reservations.map((reservation) => reservation.record({ endpoint: ENDPOINT, units: 60 }));
    // Half of the callers give up before the disk has answered.
    for (const reservation of reservations.slice(5)) reservation.release();
    const outcomes = await Promise.allSettled(records);
    expect(
      outcomes.every((outcome) => outcome.status === "rejected" && outcome.reason instanceof StorageError),
    ).toBe(true);
    expect(meter.month({ accountId }).remainingUnits).toBe(500);
    expect(meter.flush()).toBe(false);
    isFull = false;
    await reservations[0]?.record({ endpoint: ENDPOINT, units: 100 });
    for (const reservation of reservations) reservation.release();
    expect(meter.month({ accountId }).remainingUnits).toBe(900);
    expect(meter.flush()).toBe(true);
    expect(accounting.accounts.view(accountId).usage).toMatchObject({ units: 100, calls: 2 });
  });
});

test("accounts are read as they stand, without a wait for the disk", async () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId } = signUp(accounting);
  const durabilities = new Set<string>();
  const record: typeof accounting.store.record = (usage, durability) => {
    durabilities.add(durability);
    accounting.store.record(usage, durability);
  };
  const store = { ...accounting.store, record };
  const meter = meterOver(accounting, store);
  const { plans, keyRing, billingClock: clock } = accounting;
  const accounts = createAccounts({ store, meter, keyRing, plans, clock, randomBytes: systemRandomBytes });
  const range = { from: "2026-11-20", to: "2026-11-20", groupBy: "day" } as const;
  const reservation = meter.reserve({ accountId }, 7);
  const charged = reservation.record({ endpoint: ENDPOINT, units: 7 });
  for (let calls = 2; calls < 10; calls += 1) {
    meter.countCall({ accountId }, "/v1/account");
    expect(accounts.view(accountId).usage).toMatchObject({ units: 7, calls });
    meter.countCall({ accountId: signUp(accounting).accountId }, "/v1/account");
    expect(accounts.usage(accountId, range).rows).toEqual([{ day: "2026-11-20", calls, units: 7 }]);
  }
  await charged;
  reservation.release();
  expect(durabilities).toEqual(new Set(["with_sync"]));
});

describe("turns", () => {
  test("a call that began before the month turned is billed to that month and to no other", async () => {
    const clock = handClock("2026-11-30T23:59:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 800);
    clock.advance(120_000);
    expect(await accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 1 });
    await charge(accounting, accountId, 1_000);
    await reservation.record({ endpoint: ENDPOINT, units: 700 });
    reservation.release();
    expect(await accounting.billing.issueDue()).toEqual({ issued: 1, waiting: 0 });
    const november = accounting.accounts.invoices(accountId, { limit: 10, startingAfter: null }).data[0];
    expect(november?.lines.map(({ quantity }) => quantity)).toEqual([1, 700]);
    expect(accounting.accounts.view(accountId).usage.units).toBe(1_000);
    const days = { from: "2026-11-01", to: "2026-12-31", groupBy: "day" } as const;
    expect(accounting.accounts.usage(accountId, days).rows).toEqual([
      { day: "2026-11-30", calls: 1, units: 700 },
      { day: "2026-12-01", calls: 1, units: 1_000 },
    ]);
  });

  test("a call that runs during an upgrade stays with the plan under which it began", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    const reservation = accounting.meter.reserve({ accountId }, 1_000);
    clock.advance(1_000);
    accounting.accounts.changePlan(accountId, { plan: "starter" });
    await charge(accounting, accountId, 5);
    await reservation.record({ endpoint: ENDPOINT, units: 1_000 });
    reservation.release();
    const { usage, projected_invoice } = accounting.accounts.view(accountId);
    expect(usage.units).toBe(1_005);
    const units = projected_invoice.lines.filter(({ description }) => description.includes(": "));
    expect(units.map(({ description, quantity }) => [description, quantity])).toEqual([
      ["Free plan: included units", 1_000],
      ["Starter plan: included units", 5],
    ]);
  });

  test("a clock that is set back changes neither the month nor the limits", async () => {
    const clock = handClock("2026-11-30T23:59:59Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 1_000);
    clock.advance(2_000);
    await charge(accounting, accountId, 400);
    await accounting.billing.issueDue();
    clock.set("2026-11-30T23:00:00Z");
    await charge(accounting, accountId, 600);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1)).retryAfterSeconds).toBe(
      31 * 86_400 + 3_600,
    );
    expect(accounting.accounts.view(accountId).usage.units).toBe(1_000);
    expect(accounting.accounts.view(accountId).period.start).toBe("2026-12-01T00:00:00Z");
  });
});

describe("spend limit", () => {
  test("units beyond what it pays for are refused, to the unit", async () => {
    const accounting = openAccounting({ clock: handClock("2026-11-01T00:00:00Z") });
    const { accountId } = signUp(accounting, "starter");
    accounting.accounts.changePlan(accountId, { plan: "starter", spendLimitMicroUsd: 29_015_000 });
    await charge(accounting, accountId, 25_009);
    const refusal = refusalOf(() => accounting.meter.reserve({ accountId }, 2));
    expect(refusal.message).toContain("the spend limit of 29.015 USD pays for 1 more");
    await charge(accounting, accountId, 1);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1)).code).toBe("quota_exceeded");
    expect(accounting.accounts.view(accountId).projected_invoice.total_usd).toBe("29.015");
    expect(accounting.meter.month({ accountId }).isHardStop).toBe(false);
    accounting.accounts.changePlan(accountId, { plan: "starter", spendLimitMicroUsd: null });
    await charge(accounting, accountId, 1);
  });

  test("a limit under the monthly price leaves the included units usable", async () => {
    const accounting = openAccounting({ clock: handClock("2026-11-01T00:00:00Z") });
    const { accountId } = signUp(accounting, "starter");
    accounting.accounts.changePlan(accountId, { plan: "starter", spendLimitMicroUsd: 0 });
    await charge(accounting, accountId, 25_000);
    expect(refusalOf(() => accounting.meter.reserve({ accountId }, 1)).code).toBe("quota_exceeded");
  });

  test("holds for any mix of running, charged and abandoned calls", async () => {
    const call = fc.record({
      units: fc.nat({ max: 4_000 }),
      recorded: fc.nat({ max: 4_000 }),
      stays: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 40 }),
        fc.integer({ min: 0, max: 60_000_000 }),
        async (calls, limit) => {
          const clock = handClock("2026-11-01T00:00:00Z");
          const accounting = openAccounting({ clock });
          const { accountId } = signUp(accounting, "starter");
          accounting.accounts.changePlan(accountId, { plan: "starter", spendLimitMicroUsd: limit });
          const open: { reservation: Reservation; units: number }[] = [];
          let used = 0;
          for (const { units, recorded, stays } of calls) {
            const held = open.reduce((total, entry) => total + entry.units, 0);
            const paid = Math.max(0, Math.floor((limit - 29_000_000) / 1_500));
            const fits = units === 0 || used + held + units <= 25_000 + paid;
            if (!fits) {
              expect(refusalOf(() => accounting.meter.reserve({ accountId }, units)).code).toBe(
                "quota_exceeded",
              );
              continue;
            }
            const reservation = accounting.meter.reserve({ accountId }, units);
            const charged = Math.min(recorded, units);
            await reservation.record({ endpoint: ENDPOINT, units: charged });
            used += charged;
            if (stays) open.push({ reservation, units: units - charged });
            else reservation.release();
          }
          accounting.store.close();
        },
      ),
      { numRuns: 50, seed: 20_261_120 },
    );
  });
});

test("calls of no units reach the disk with the next charge, and all at the end", async () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId } = signUp(accounting);
  accounting.meter.countCall({ accountId }, "/v1/account");
  accounting.meter.countCall({ accountId }, "/v1/account");
  await charge(accounting, accountId, 1);
  expect(accounting.store.usageByEndpoint(accountId, "2026-11-01", "2026-11-30")).toEqual([
    { endpoint: "/v1/account", calls: 2, units: 0 },
    { endpoint: ENDPOINT, calls: 1, units: 1 },
  ]);
  accounting.meter.countCall({ accountId }, "/v1/account");
  await accounting.meter.close();
  expect(accounting.accounts.view(accountId).usage.calls).toBe(4);
});

test("the month's quota includes reserved units, and has its end", () => {
  const clock = handClock("2026-11-01T00:00:00Z");
  const accounting = openAccounting({ clock });
  const { accountId } = signUp(accounting, "starter");
  clock.set("2026-11-30T23:59:59.200Z");
  const reservation = accounting.meter.reserve({ accountId }, 26_000);
  expect(accounting.meter.month({ accountId })).toEqual({
    limitUnits: 25_000,
    remainingUnits: 0,
    isHardStop: false,
    resetSeconds: 1,
  });
  reservation.release();
  expect(accounting.meter.month({ accountId }).remainingUnits).toBe(25_000);
});
