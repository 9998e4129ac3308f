import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createBilling } from "../../src/billing/billing.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import {
  type Accounting,
  charge,
  handClock,
  openAccounting,
  setConfirmed,
  signUp,
  withDirectory,
} from "./accounting.ts";

const DAY_MS = 86_400_000;

function invoicesOf(accounting: Accounting, accountId: string) {
  return accounting.accounts.invoices(accountId, { limit: 100, startingAfter: null }).data;
}

describe("turn of the month", () => {
  test("issues each month once, on time, also for accounts that did nothing", async () => {
    const clock = handClock("2026-11-01T00:00:00Z");
    const accounting = openAccounting({ clock });
    const busy = signUp(accounting, "starter").accountId;
    const idle = signUp(accounting, "growth").accountId;
    clock.set("2026-11-30T23:59:59Z");
    await charge(accounting, busy, 26_000);
    expect(await accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
    clock.advance(1_000);
    const both = await Promise.all([accounting.billing.issueDue(), accounting.billing.issueDue()]);
    expect(both).toEqual([
      { issued: 2, waiting: 0 },
      { issued: 2, waiting: 0 },
    ]);
    expect(await accounting.billing.issueDue()).toEqual({ issued: 0, waiting: 0 });
    expect(invoicesOf(accounting, busy).map(({ total_usd, status }) => [total_usd, status])).toEqual([
      ["30.50", "issued"],
    ]);
    expect(invoicesOf(accounting, idle).map(({ total_usd }) => total_usd)).toEqual(["149.00"]);
    expect(accounting.accounts.view(busy).usage).toMatchObject({ units: 0, calls: 0, by_endpoint: [] });
  });

  test("is caught up at the next start, month by month, with the pending plan", () =>
    withDirectory(async (root) => {
      const clock = handClock("2026-11-01T00:00:00Z");
      const dataDir = join(root, "data");
      const before = openAccounting({ clock, dataDir });
      const { accountId, apiKey } = signUp(before, "growth");
      await charge(before, accountId, 7);
      before.accounts.changePlan(accountId, { plan: "free" });
      await before.meter.close();
      before.store.close();

      const accounting = openAccounting({ clock, dataDir });
      setConfirmed(accounting, "2027-02-10T00:00:00Z");
      expect(await accounting.billing.issueDue()).toEqual({ issued: 3, waiting: 0 });
      const rows = invoicesOf(accounting, accountId).map(({ invoice_id, plan, total_usd }) => [
        invoice_id,
        plan,
        total_usd,
      ]);
      const suffix = accountId.slice(4);
      expect(rows).toEqual([
        [`inv_202701_${suffix}`, "free", "0.00"],
        [`inv_202612_${suffix}`, "free", "0.00"],
        [`inv_202611_${suffix}`, "growth", "149.00"],
      ]);
      expect(accounting.keyRing.find(apiKey)?.plan.plan).toBe("free");
      expect(accounting.accounts.view(accountId)).toMatchObject({ plan: "free", pending_plan: null });
      accounting.store.close();
    }));

  test("works through more accounts than fit into a slice", async () => {
    const clock = handClock("2026-11-30T00:00:00Z");
    const accounting = openAccounting({ clock });
    const ids = Array.from({ length: 350 }, () => signUp(accounting).accountId);
    clock.advance(DAY_MS);
    // Some have called in the new month before the bills were run.
    for (const id of ids.slice(0, 50)) await charge(accounting, id, 1);
    expect(await accounting.billing.issueDue()).toEqual({ issued: 350, waiting: 0 });
    expect(ids.every((id) => invoicesOf(accounting, id).length === 1)).toBe(true);
    expect(accounting.accounts.view(ids[0] ?? "").usage.units).toBe(1);
  });

  test("leaves everything as it was when the disk fails, and is done by the next run", async () => {
    const clock = handClock("2026-11-30T00:00:00Z");
    const accounting = openAccounting({ clock });
    const ids = [signUp(accounting, "starter").accountId, signUp(accounting, "starter").accountId];
    clock.advance(DAY_MS);
    let isFull = true;
    const issueInvoices: typeof accounting.store.issueInvoices = (months, invoiceOf) => {
      let made = 0;
      return accounting.store.issueInvoices(months, (month, planPeriods) => {
        made += 1;
        if (isFull && made === months.length) throw new StorageError("SQLITE_FULL");
        return invoiceOf(month, planPeriods);
      });
    };
    const billing = createBilling({
      store: { ...accounting.store, issueInvoices },
      meter: accounting.meter,
      clock: accounting.billingClock,
    });
    await expect(billing.issueDue()).rejects.toThrow(StorageError);
    expect(ids.flatMap((id) => invoicesOf(accounting, id))).toEqual([]);
    isFull = false;
    expect(await billing.issueDue()).toEqual({ issued: 2, waiting: 0 });
    for (const id of ids) expect(invoicesOf(accounting, id)).toHaveLength(1);
  });

  test("goes on with fewer accounts at a time where the store is too slow for a slice, and with more again later", async () => {
    const clock = handClock("2026-11-30T00:00:00Z");
    const accounting = openAccounting({ clock });
    const ids = Array.from({ length: 350 }, () => signUp(accounting).accountId);
    clock.advance(DAY_MS);
    let fitting = 1;
    const sizes = { entered: [] as number[], issued: [] as number[] };
    const requireFitting = (count: number, among: number[]): void => {
      if (count > fitting) throw new StorageError("the database did not answer in time");
      among.push(count);
      // The way to it becomes better.
      fitting += 2;
    };
    const billing = createBilling({
      store: {
        ...accounting.store,
        issueInvoices: (months, invoiceOf) => {
          requireFitting(months.length, sizes.issued);
          return accounting.store.issueInvoices(months, invoiceOf);
        },
      },
      meter: {
        ...accounting.meter,
        enterMonths: (accountIds, now) => {
          requireFitting(accountIds.length, sizes.entered);
          return accounting.meter.enterMonths(accountIds, now);
        },
      },
      clock: accounting.billingClock,
    });
    expect(await billing.issueDue()).toEqual({ issued: 350, waiting: 0 });
    expect(ids.every((id) => invoicesOf(accounting, id).length === 1)).toBe(true);
    expect(sizes.entered[0]).toBe(1);
    expect(Math.max(...sizes.issued)).toBeGreaterThan(20);
  });

  test("stops between two slices, and the next start does the rest", async () => {
    const clock = handClock("2026-11-30T00:00:00Z");
    const accounting = openAccounting({ clock });
    const ids = Array.from({ length: 350 }, () => signUp(accounting).accountId);
    clock.advance(DAY_MS);
    const problems: unknown[] = [];
    const stop = accounting.billing.start((problem) => problems.push(problem));
    const running = accounting.billing.issueDue();
    stop();
    await running;
    expect(ids.some((id) => invoicesOf(accounting, id).length === 0)).toBe(true);
    accounting.billing.start()();
    const stopAgain = accounting.billing.start((problem) => problems.push(problem));
    await accounting.billing.issueDue();
    stopAgain();
    expect(ids.every((id) => invoicesOf(accounting, id).length === 1)).toBe(true);
    expect(problems).toEqual([]);
  });

  test("runs when it is started, reports problems, and stops", async () => {
    const clock = handClock("2026-11-30T00:00:00Z");
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    clock.advance(DAY_MS);
    const stop = accounting.billing.start();
    await accounting.billing.issueDue();
    stop();
    expect(invoicesOf(accounting, accountId)).toHaveLength(1);

    const { promise, resolve } = Promise.withResolvers<unknown>();
    accounting.store.close();
    accounting.billing.start(resolve)();
    expect(await promise).toBeInstanceOf(Error);
  });
});
