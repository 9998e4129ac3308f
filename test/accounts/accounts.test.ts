import { describe, expect, test } from "bun:test";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { decidePlanChange } from "../../src/accounts/plan-change.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { charge, handClock, openAccounting, setConfirmed, signUp } from "../billing/accounting.ts";

const DAY_MS = 86_400_000;

test("a moment without an offset is one in UTC, wherever the server stands", () => {
  const accounting = openAccounting({ clock: handClock("2026-11-20T12:00:00Z") });
  const { accountId } = signUp(accounting, "free", "utc@example.com");
  const before = process.env.TZ;
  process.env.TZ = "Asia/Tokyo";
  try {
    const range = { from: "2026-11-10T05:00:00", to: "2026-11-11", groupBy: "day" } as const;
    expect(accounting.accounts.usage(accountId, range)).toMatchObject({
      from: "2026-11-10",
      to: "2026-11-11",
    });
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

describe("signup", () => {
  test("of 100 for one mailbox at once exactly one gets an account", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, async () => signUp(accounting, "free", "same@example.com")),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toHaveLength(99);
    expect(
      refused.every(({ reason }) => reason instanceof ApiError && reason.code === "account_exists"),
    ).toBe(true);
  });

  test("shows an account that has used nothing", () => {
    const accounting = openAccounting({ clock: handClock("2026-11-20T12:34:56.789Z") });
    const { accountId } = accounting.accounts.signup({
      email: "Ana.Silva+x@Example.com",
      normalized: "ana.silva@example.com",
      name: "Ana",
      company: "Silva & Filhos",
      country: "BR",
      plan: "free",
      referralCode: "R1",
    });
    expect(accountId).toMatch(/^acc_[0-9A-Za-z]{20}$/);
    expect(accounting.accounts.view(accountId)).toEqual({
      account_id: accountId,
      email: "Ana.Silva+x@Example.com",
      name: "Ana",
      company: "Silva & Filhos",
      country: "BR",
      plan: "free",
      pending_plan: null,
      created_at: "2026-11-20T12:34:56Z",
      period: { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" },
      usage: { units: 0, included_units: 1_000, remaining_units: 1_000, calls: 0, by_endpoint: [] },
      limits: { requests_per_second: 10, burst: 20, max_batch_size: 100 },
      spend_limit_usd: null,
      projected_invoice: {
        invoice_id: `inv_202611_${accountId.slice(4)}`,
        status: "projected",
        plan: "free",
        period_start: "2026-11-01T00:00:00Z",
        period_end: "2026-12-01T00:00:00Z",
        lines: [
          {
            description: "Free plan, 2026-11-20T12:34:56Z to 2026-12-01T00:00:00Z",
            quantity: 1,
            unit_price_usd: "0.00",
            amount_usd: "0.00",
          },
        ],
        total_usd: "0.00",
        projected_total_usd: "0.00",
      },
    });
  });
});

test("what running calls hold is shown neither as used nor as gone", async () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId } = signUp(accounting);
  await charge(accounting, accountId, 10);
  const reservation = accounting.meter.reserve({ accountId }, 100);
  expect(accounting.accounts.view(accountId).usage).toMatchObject({ units: 10, remaining_units: 990 });
  expect(accounting.meter.month({ accountId }).remainingUnits).toBe(890);
  reservation.release();
});

describe("plan change", () => {
  test("an upgrade that is decided as the month turns is in the month of its ledger", () => {
    const clock = handClock("2026-11-30T23:59:59Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    const ledger = accounting.meter.ledger(accountId);
    clock.advance(1_500);
    const { started } = decidePlanChange(accounting, ledger, { plan: "growth" });
    expect(started).toMatchObject({ startsAt: ledger.period.end - 1, periodEnd: ledger.period.end });
  });

  test("upwards is effective at once: limits, included units, and the price by the second", async () => {
    const clock = handClock("2026-11-16T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    await charge(accounting, accountId, 1_000);
    expect(() => accounting.meter.reserve({ accountId }, 1)).toThrow(ApiError);
    const view = accounting.accounts.changePlan(accountId, { plan: "starter" });
    expect(view).toMatchObject({
      plan: "starter",
      pending_plan: null,
      limits: { requests_per_second: 50, burst: 100, max_batch_size: 1_000 },
      usage: { units: 1_000, included_units: 12_500, remaining_units: null },
    });
    expect(view.projected_invoice.total_usd).toBe("14.50");
    await charge(accounting, accountId, 12_501);
    expect(accounting.accounts.view(accountId).projected_invoice.total_usd).toBe("14.5015");
  });

  test("downwards waits for the end of the month, and can be withdrawn", async () => {
    const clock = handClock("2026-11-01T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting, "growth");
    const waiting = accounting.accounts.changePlan(accountId, { plan: "starter" });
    expect(waiting).toMatchObject({
      plan: "growth",
      pending_plan: "starter",
      limits: { max_batch_size: 10_000 },
    });
    expect(accounting.accounts.changePlan(accountId, { plan: "growth" }).pending_plan).toBeNull();
    accounting.accounts.changePlan(accountId, { plan: "free" });
    clock.advance(30 * DAY_MS);
    expect(accounting.accounts.view(accountId)).toMatchObject({ plan: "free", pending_plan: null });
    await accounting.billing.issueDue();
    const [invoice] = accounting.accounts.invoices(accountId, { limit: 1, startingAfter: null }).data;
    expect(invoice).toMatchObject({ plan: "growth", total_usd: "149.00" });
  });

  test("upwards takes back a downgrade that waits", () => {
    const clock = handClock("2026-11-16T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting, "growth");
    accounting.accounts.changePlan(accountId, { plan: "free" });
    expect(accounting.accounts.changePlan(accountId, { plan: "scale" })).toMatchObject({
      plan: "scale",
      pending_plan: null,
    });
    clock.advance(20 * DAY_MS);
    expect(accounting.accounts.view(accountId).plan).toBe("scale");
  });

  test("three times in one second bills every share once", () => {
    const clock = handClock("2026-11-16T00:00:00.100Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    for (const plan of ["starter", "growth", "scale"] as const) {
      clock.advance(200);
      accounting.accounts.changePlan(accountId, { plan });
    }
    expect(accounting.accounts.view(accountId).projected_invoice.total_usd).toBe("374.50");
  });

  test("leaves the spend limit alone unless it is given", () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting, "starter");
    const limit = (spendLimitMicroUsd?: number | null) =>
      accounting.accounts.changePlan(accountId, { plan: "starter", spendLimitMicroUsd }).spend_limit_usd;
    expect([limit(50_000_000), limit(), limit(null)]).toEqual(["50.00", "50.00", null]);
  });

  test("and the reply to keep are written together or not at all", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId, apiKey } = signUp(accounting);
    const broken = () =>
      accounting.accounts.changePlan(accountId, { plan: "scale", spendLimitMicroUsd: 5 }, () => {
        throw new StorageError("SQLITE_FULL");
      });
    expect(broken).toThrow(StorageError);
    expect(accounting.accounts.view(accountId)).toMatchObject({ plan: "free", spend_limit_usd: null });
    expect(accounting.keyRing.find(apiKey)?.plan.plan).toBe("free");
    await charge(accounting, accountId, 1_000);
    expect(() => accounting.meter.reserve({ accountId }, 1)).toThrow(ApiError);
    const rotation = () =>
      accounting.accounts.rotateKey(accountId, { overlapSeconds: 0 }, () => {
        throw new StorageError("SQLITE_FULL");
      });
    expect(rotation).toThrow(StorageError);
    expect(accounting.keyRing.find(apiKey)?.accountId).toBe(accountId);
  });
});

describe("usage", () => {
  async function used() {
    const clock = handClock("2026-10-31T23:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting, "scale");
    await charge(accounting, accountId, 5, "/v1/phone/validate");
    clock.set("2026-11-20T10:00:00Z");
    await charge(accounting, accountId, 3);
    await charge(accounting, accountId, 4, "/v1/phone/validate");
    accounting.meter.countCall({ accountId }, "/v1/account");
    return { accounting, accountId };
  }

  test("is of the running month unless days are given", async () => {
    const { accounting, accountId } = await used();
    expect(accounting.accounts.usage(accountId, { groupBy: "day" })).toEqual({
      from: "2026-11-01",
      to: "2026-11-20",
      group_by: "day",
      rows: [{ day: "2026-11-20", calls: 3, units: 7 }],
    });
  });

  test("is grouped by endpoint over days that are both included", async () => {
    const { accounting, accountId } = await used();
    const range = { from: "2026-10-31", to: "2026-11-20T23:00:00Z", groupBy: "endpoint" } as const;
    expect(accounting.accounts.usage(accountId, range).rows).toEqual([
      { endpoint: "/v1/account", calls: 1, units: 0 },
      { endpoint: "/v1/email/verify", calls: 1, units: 3 },
      { endpoint: "/v1/phone/validate", calls: 2, units: 9 },
    ]);
    expect(accounting.accounts.usage(accountId, { to: "2026-10-31", groupBy: "day" })).toMatchObject({
      from: "2026-10-01",
      rows: [{ day: "2026-10-31", calls: 1, units: 5 }],
    });
  });

  test.each([
    [{ from: "yesterday" }, "from must be a date"],
    [{ to: "2026-02-30" }, "to must be a date"],
    [{ to: "2026-1-1" }, "to must be a date"],
    [{ from: "+012026-01-01" }, "from must be a date"],
    [{ from: "2026-11-21", to: "2026-11-20" }, "must not be after"],
    [{ from: "2020-01-01", to: "2026-11-20" }, "at most 366 days"],
    [{ from: `2026-01-01T${"0".repeat(100_000)}` }, "from must be a date"],
  ])("over %.60j is refused", async (range, message) => {
    const { accounting, accountId } = await used();
    expect(() => accounting.accounts.usage(accountId, { ...range, groupBy: "day" })).toThrow(message);
  });
});

describe("invoices", () => {
  test("are paged newest first, and the cursor leads through all of them", async () => {
    const clock = handClock("2026-01-05T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    setConfirmed(accounting, "2026-11-20T00:00:00Z");
    await accounting.billing.issueDue();
    const starts: string[] = [];
    let startingAfter: string | null = null;
    let pages = 0;
    do {
      const page: ReturnType<typeof accounting.accounts.invoices> = accounting.accounts.invoices(accountId, {
        limit: 4,
        startingAfter,
      });
      starts.push(...page.data.map(({ period_start }) => period_start.slice(0, 7)));
      expect(page.has_more).toBe(page.next_cursor !== null);
      startingAfter = page.next_cursor;
      pages += 1;
    } while (startingAfter !== null);
    expect(pages).toBe(3);
    expect(starts).toEqual(
      Array.from({ length: 10 }, (_, index) => `2026-${String(10 - index).padStart(2, "0")}`),
    );
  });

  test("of somebody else are no cursor", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const [mine, other] = [signUp(accounting).accountId, signUp(accounting).accountId];
    clock.advance(30 * DAY_MS);
    await accounting.billing.issueDue();
    const startingAfter = `inv_202611_${other.slice(4)}`;
    expect(() => accounting.accounts.invoices(mine, { limit: 1, startingAfter })).toThrow("starting_after");
  });

  test("stay as they were issued when the account changes", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting, "starter");
    await charge(accounting, accountId, 26_000);
    clock.advance(30 * DAY_MS);
    await accounting.billing.issueDue();
    const read = () =>
      JSON.stringify(accounting.accounts.invoices(accountId, { limit: 1, startingAfter: null }));
    const before = read();
    accounting.accounts.changePlan(accountId, { plan: "scale", spendLimitMicroUsd: 1 });
    await charge(accounting, accountId, 5);
    await accounting.billing.issueDue();
    expect(read()).toBe(before);
  });
});

test("a plan that is not offered for self-service is neither signed up for nor changed to, and stays where it is held", () => {
  const accounting = openAccounting({ clock: handClock() });
  const { accountId } = signUp(accounting, "growth");
  const accounts = createAccounts({
    ...accounting,
    clock: accounting.billingClock,
    randomBytes: systemRandomBytes,
    selfServePlans: ["free", "starter"],
  });
  expect(() => accounts.changePlan(accountId, { plan: "scale" })).toThrow(
    "plan must be one of free, starter",
  );
  expect(() => signUp({ ...accounting, accounts }, "scale")).toThrow("plan must be one of free, starter");
  expect(
    accounts.changePlan(accountId, { plan: "growth", spendLimitMicroUsd: 5_000_000 }).spend_limit_usd,
  ).toBe("5.00");
  expect(accounts.changePlan(accountId, { plan: "starter" }).pending_plan).toBe("starter");
});
