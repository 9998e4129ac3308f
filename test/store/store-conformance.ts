import { describe, expect, test } from "bun:test";
import type { Clock } from "../../src/platform/clock.ts";
import type { Store } from "../../src/store/open.ts";

const MONTH = {
  periodStart: Date.parse("2026-11-01T00:00:00Z"),
  periodEnd: Date.parse("2026-12-01T00:00:00Z"),
};
const NEXT = {
  periodStart: Date.parse("2026-12-01T00:00:00Z"),
  periodEnd: Date.parse("2027-01-01T00:00:00Z"),
};
const FREE = { plan: "free", monthlyPriceMicroUsd: 0, includedUnits: 1_000, overagePriceMicroUsd: null };

const clock: Clock = { now: () => Date.parse("2026-11-20T12:00:00Z"), monotonic: () => 1_000 };

/** What every store must do, whatever it keeps its rows in. */
export function describeStore(name: string, open: (clock: Clock) => Store): void {
  const opened = (): Store => {
    const store = open(clock);
    insertAccount(store, "acc_a");
    return store;
  };

  describe(`${name}: accounts and keys`, () => {
    test("a normalized mailbox has one account; a second is refused without a trace", () => {
      const store = opened();
      expect(store.accounts.insert({ ...accountRow("acc_b"), normalized: "acc_a@example.com" })).toBe(false);
      expect(store.accounts.find("acc_b")).toBeUndefined();
      expect(store.accounts.insert(accountRow("acc_b"))).toBe(true);
    });

    test("plan, waiting plan and spend limit are kept as set", () => {
      const store = opened();
      store.accounts.setPlan("acc_a", "growth", "free");
      store.accounts.setSpendLimit("acc_a", 749_000_000);
      expect(store.accounts.find("acc_a")).toEqual({
        ...accountRow("acc_a"),
        plan: "growth",
        pendingPlan: "free",
        spendLimitMicroUsd: 749_000_000,
      });
      store.accounts.setSpendLimit("acc_a", null);
      expect(store.accounts.find("acc_a")?.spendLimitMicroUsd).toBeNull();
    });

    test("ending the other keys never makes one live longer, nor touches another account", () => {
      const store = opened();
      insertAccount(store, "acc_b");
      const key = { accountId: "acc_a", createdAt: 1, expiresAt: null };
      store.accounts.insertKey({ ...key, keyHash: "new" });
      store.accounts.insertKey({ ...key, keyHash: "old" });
      store.accounts.insertKey({ ...key, keyHash: "older", expiresAt: 50 });
      store.accounts.insertKey({ ...key, keyHash: "other", accountId: "acc_b" });
      store.accounts.expireOtherKeys("acc_a", "new", 100);
      const ends = ["new", "old", "older", "other"].map((hash) => store.accounts.findKey(hash)?.expiresAt);
      expect(ends).toEqual([null, 100, 50, null]);
    });

    test("a key of no account is refused", () => {
      const row = { keyHash: "x", accountId: "acc_none", createdAt: 1, expiresAt: null };
      expect(() => opened().accounts.insertKey(row)).toThrow();
    });
  });

  describe(`${name}: plan periods and usage`, () => {
    test("an account has one running plan period at most", () => {
      const store = opened();
      const first = store.planPeriods.insert({
        ...FREE,
        ...MONTH,
        accountId: "acc_a",
        startsAt: MONTH.periodStart,
      });
      expect(first).toMatchObject({ units: 0, calls: 0, endsAt: null, invoiceId: null });
      const again = { ...FREE, ...NEXT, accountId: "acc_a", startsAt: NEXT.periodStart };
      expect(() => store.planPeriods.insert(again)).toThrow();
      store.planPeriods.end(first.planPeriodId, MONTH.periodEnd);
      const second = store.planPeriods.insert(again);
      expect(store.planPeriods.running("acc_a")).toEqual(second);
      expect(store.planPeriods.ofMonth("acc_a", MONTH.periodStart).map((row) => row.planPeriodId)).toEqual([
        first.planPeriodId,
      ]);
    });

    test("finds what is due: running in a month that is over, and ended without an invoice", () => {
      const store = opened();
      const row = store.planPeriods.insert({
        ...FREE,
        ...MONTH,
        accountId: "acc_a",
        startsAt: MONTH.periodStart,
      });
      expect(store.planPeriods.runningDue(MONTH.periodEnd - 1, 10)).toEqual([]);
      expect(store.planPeriods.runningDue(MONTH.periodEnd, 10)).toEqual(["acc_a"]);
      expect(store.planPeriods.uninvoicedDue(MONTH.periodEnd, 0, 10)).toEqual([]);
      store.planPeriods.end(row.planPeriodId, MONTH.periodEnd);
      expect(store.planPeriods.runningDue(MONTH.periodEnd, 10)).toEqual([]);
      expect(store.planPeriods.uninvoicedDue(MONTH.periodEnd - 1, 0, 10)).toEqual([]);
      expect(store.planPeriods.uninvoicedDue(MONTH.periodEnd, 0, 10)).toHaveLength(1);
      expect(store.planPeriods.uninvoicedDue(MONTH.periodEnd, row.planPeriodId, 10)).toEqual([]);
    });

    test("once invoiced, a plan period takes no more units", () => {
      const store = opened();
      const row = store.planPeriods.insert({
        ...FREE,
        ...MONTH,
        accountId: "acc_a",
        startsAt: MONTH.periodStart,
      });
      store.planPeriods.add(row.planPeriodId, 3, 1);
      store.planPeriods.end(row.planPeriodId, MONTH.periodEnd);
      store.planPeriods.markInvoiced("acc_a", MONTH.periodStart, "inv_1");
      expect(() => store.planPeriods.add(row.planPeriodId, 1, 1)).toThrow("never changes");
      expect(store.planPeriods.ofMonth("acc_a", MONTH.periodStart)[0]).toMatchObject({ units: 3, calls: 1 });
    });

    test("usage adds up by day and by endpoint, within the days asked for", () => {
      const store = opened();
      const add = (day: string, endpoint: string, calls: number, units: number): void =>
        store.usage.addDay({ accountId: "acc_a", day, endpoint, calls, units });
      add("2026-11-19", "/a", 1, 10);
      add("2026-11-20", "/a", 1, 20);
      add("2026-11-20", "/a", 2, 5);
      add("2026-11-20", "/b", 1, 7);
      store.usage.addDay({ accountId: "acc_b", day: "2026-11-20", endpoint: "/a", calls: 9, units: 9 });
      expect(store.usage.byDay("acc_a", "2026-11-01", "2026-11-30")).toEqual([
        { day: "2026-11-19", calls: 1, units: 10 },
        { day: "2026-11-20", calls: 4, units: 32 },
      ]);
      expect(store.usage.byEndpoint("acc_a", "2026-11-20", "2026-11-20")).toEqual([
        { endpoint: "/a", calls: 3, units: 25 },
        { endpoint: "/b", calls: 1, units: 7 },
      ]);
    });
  });

  describe(`${name}: invoices`, () => {
    const row = { accountId: "acc_a", units: 1, totalMicroUsd: 2, body: "{}", issuedAt: 3 };

    test("a month is invoiced once", () => {
      const store = opened();
      store.invoices.insert({ ...row, ...MONTH, invoiceId: "inv_1" });
      expect(() => store.invoices.insert({ ...row, ...MONTH, invoiceId: "inv_2" })).toThrow();
    });

    test("pages are newest first and show nobody else's", () => {
      const store = opened();
      insertAccount(store, "acc_b");
      store.invoices.insert({ ...row, ...MONTH, invoiceId: "inv_1" });
      store.invoices.insert({ ...row, ...NEXT, invoiceId: "inv_2" });
      store.invoices.insert({ ...row, ...NEXT, invoiceId: "inv_3", accountId: "acc_b" });
      const ids = (before: number): string[] =>
        store.invoices.page("acc_a", before, 10).map(({ invoiceId }) => invoiceId);
      expect(ids(Number.MAX_SAFE_INTEGER)).toEqual(["inv_2", "inv_1"]);
      expect(ids(NEXT.periodStart)).toEqual(["inv_1"]);
      expect(store.invoices.find("acc_a", "inv_3")).toBeUndefined();
    });
  });

  describe(`${name}: kept replies`, () => {
    const reply = {
      accountId: "acc_a",
      fingerprint: "f",
      status: 200,
      headers: "{}",
      bodyFile: null,
      body: "x",
    };

    test("expired ones go a slice at a time; the rest stays", () => {
      const store = opened();
      for (const [index, expiresAt] of [10, 20, 30, 40].entries()) {
        store.replies.insert({ ...reply, idempotencyKey: `k${index}`, expiresAt, bodyBytes: 5 });
      }
      expect(store.replies.bodyBytes()).toBe(20);
      expect(store.replies.removeExpired(30, 2)).toBe(2);
      expect(store.replies.removeExpired(30, 2)).toBe(1);
      expect(store.replies.removeExpired(30, 2)).toBe(0);
      expect(store.replies.bodyBytes()).toBe(5);
      expect(store.replies.find("acc_a", "k3")?.expiresAt).toBe(40);
    });

    test("a key is kept once for each account", () => {
      const store = opened();
      const row = { ...reply, idempotencyKey: "k", expiresAt: 1, bodyBytes: 1 };
      store.replies.insert(row);
      store.replies.insert({ ...row, accountId: "acc_b" });
      expect(() => store.replies.insert(row)).toThrow();
      store.replies.remove("acc_a", "k");
      expect(store.replies.find("acc_a", "k")).toBeUndefined();
      expect(store.replies.find("acc_b", "k")).toBeDefined();
    });
  });

  describe(`${name}: transactions`, () => {
    test("undo everything when the work throws, inner ones included", () => {
      const store = opened();
      expect(() =>
        store.transact(() => {
          store.transact(() => store.accounts.setPlan("acc_a", "scale", null));
          store.accounts.setSpendLimit("acc_a", 1);
          throw new Error("no");
        }),
      ).toThrow("no");
      expect(store.accounts.find("acc_a")).toEqual(accountRow("acc_a"));
      expect(store.isInTransaction()).toBe(false);
    });

    test("refuse work that returns a promise, and undo it", () => {
      const store = opened();
      const work = (async () => store.accounts.setPlan("acc_a", "scale", null)) as unknown as () => number;
      expect(() => store.transact(work)).toThrow("synchronous");
      expect(store.accounts.find("acc_a")?.plan).toBe("free");
    });
  });
}

function accountRow(accountId: string) {
  return {
    accountId,
    email: `${accountId}@example.com`,
    normalized: `${accountId}@example.com`,
    name: null,
    company: "Ação & Söhne 🦊",
    country: "BR",
    referralCode: null,
    plan: "free",
    pendingPlan: null,
    spendLimitMicroUsd: null,
    createdAt: 1_795_000_000_123,
    suspendedAt: null,
    erasedAt: null,
  };
}

function insertAccount(store: Store, accountId: string): void {
  store.accounts.insert(accountRow(accountId));
}
