import { describe, expect, test } from "bun:test";
import { confirmClock } from "../../src/billing/billing-clock.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { type Accounting, charge, handClock, openAccounting, signUp, withDirectory } from "./accounting.ts";

const DAY_MS = 86_400_000;
const ACCOUNTS = 6;

/** Six accounts whose first three months are invoiced: 18 invoices. */
async function threeMonths() {
  const clock = handClock("2026-08-15T00:00:00Z");
  const accounting = openAccounting({ clock });
  const ids = Array.from({ length: ACCOUNTS }, () => signUp(accounting, "starter").accountId);
  for (const month of ["2026-09-02", "2026-10-02", "2026-11-02"]) {
    clock.set(`${month}T00:00:00Z`);
    await accounting.billing.issueDue();
  }
  expect(invoicesOf(accounting, ids)).toBe(18);
  return { clock, accounting, ids };
}

function invoicesOf(accounting: Accounting, ids: readonly string[]): number {
  const page = { limit: 100, startingAfter: null };
  return ids.reduce((total, id) => total + accounting.accounts.invoices(id, page).data.length, 0);
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code}`;
    throw error;
  }
  return "done";
}

describe("a clock that jumps a year ahead", () => {
  test("issues no invoice, charges no call and changes no account; set right, all continues", async () => {
    const { clock, accounting, ids } = await threeMonths();
    const [id = ""] = ids;
    await charge(accounting, id, 5);
    const before = accounting.accounts.view(id);
    clock.set("2027-11-02T00:00:00Z");
    expect(await accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
    expect(invoicesOf(accounting, ids)).toBe(18);
    const refused = "503 storage_unavailable";
    expect(codeOf(() => accounting.meter.reserve({ accountId: id }, 1))).toBe(refused);
    expect(codeOf(() => accounting.accounts.changePlan(id, { plan: "scale" }))).toBe(refused);
    expect(codeOf(() => accounting.accounts.rotateKey(id, { overlapSeconds: 0 }))).toBe(refused);
    expect(codeOf(() => signUp(accounting))).toBe(refused);
    accounting.meter.countCall({ accountId: id }, "/v1/account");
    expect(accounting.accounts.view(id)).toEqual(before);
    expect(accounting.billingClock.doubt()?.sentence).toBe(
      "The clock shows 2027-11-02, 365 days past the last time that was kept (2026-11-02T00:00:00Z): nothing is charged or invoiced until an operator sets the clock right, or confirms it with: bun run admin confirm-clock",
    );

    clock.set("2026-12-02T00:00:00Z");
    await charge(accounting, id, 1);
    expect(await accounting.billing.issueDue()).toEqual({ issued: ACCOUNTS, waiting: 0 });
    expect(accounting.accounts.view(id).usage.units).toBe(1);
  });

  test("issues the months in between once an operator confirms it, within a second and without a restart", async () => {
    const { clock, accounting, ids } = await threeMonths();
    clock.set("2027-11-02T00:00:00Z");
    await accounting.billing.issueDue();
    confirmClock(accounting.store, clock.now());
    clock.advance(1_000);
    expect(accounting.billingClock.doubt()).toBeNull();
    expect(await accounting.billing.issueDue()).toEqual({ issued: 72, waiting: 0 });
    expect(invoicesOf(accounting, ids)).toBe(90);
    await charge(accounting, ids[0] ?? "", 1);
  });

  test("is in doubt after a restart too, and a confirmation does not cover a later jump", () =>
    withDirectory(async (dataDir) => {
      const clock = handClock("2026-11-20T00:00:00Z");
      const first = openAccounting({ clock, dataDir });
      const { accountId } = signUp(first);
      await charge(first, accountId, 1);
      first.store.close();
      clock.set("2027-02-20T00:00:00Z");
      const second = openAccounting({ clock, dataDir });
      expect(second.billingClock.doubt()?.daysAhead).toBe(92);
      expect(await second.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
      confirmClock(second.store, clock.now());
      clock.advance(1_000);
      expect((await second.billing.issueDue()).issued).toBe(3);
      clock.set("2028-02-20T00:00:00Z");
      expect(codeOf(() => second.meter.reserve({ accountId }, 1))).toBe("503 storage_unavailable");
      second.store.close();
    }));
});

describe("the stored time", () => {
  test("moves with charges and with the billing runs: 35 days are accepted, a second more is not", async () => {
    const clock = handClock("2026-11-01T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    clock.advance(30 * DAY_MS);
    await charge(accounting, accountId, 1);
    expect(accounting.store.findKeptClock()?.keptAt).toBe(clock.now());
    clock.advance(35 * DAY_MS);
    expect(accounting.billingClock.doubt()).toBeNull();
    clock.advance(1_000);
    expect(accounting.billingClock.doubt()?.daysAhead).toBe(35);
    clock.advance(-1_000);
    await accounting.billing.issueDue();
    expect(accounting.store.findKeptClock()?.keptAt).toBe(clock.now());
  });

  test("never moves back: a clock set back by years ends no month twice, returns no unit and charges on", async () => {
    const clock = handClock("2026-11-20T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 990);
    const keptAt = accounting.store.findKeptClock()?.keptAt;
    clock.set("2016-01-01T00:00:00Z");
    await charge(accounting, accountId, 10);
    expect(codeOf(() => accounting.meter.reserve({ accountId }, 1))).toBe("402 quota_exceeded");
    expect(await accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
    expect(accounting.store.findKeptClock()?.keptAt).toBe(keptAt);
    expect(accounting.billingClock.daysBehind()).toBe(3_976);
    clock.set("2026-12-01T00:00:00Z");
    expect((await accounting.billing.issueDue()).issued).toBe(1);
  });
});
