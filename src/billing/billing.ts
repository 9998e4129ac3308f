import { setImmediate as nextTurn } from "node:timers/promises";
import type { Month, PlanPeriodRecord } from "../store/account-records.ts";
import type { InvoicePort, MonthPort, NewInvoice } from "../store/billing-port.ts";
import { StorageError } from "../store/storage-error.ts";
import type { BillingClock } from "./billing-clock.ts";
import { invoiceId, invoiceLines, invoiceView, totalOf } from "./invoice.ts";
import type { Meter } from "./meter.ts";
import { planPeriodOf } from "./plan-periods.ts";
import { createSliceSize } from "./slice-size.ts";

export type Billing = {
  /**
   * Issues the invoices of all months that are over. A month in which a call still runs waits. Idempotent: each month is
   * invoiced once, crashes included. Issues none while the clock is in doubt.
   */
  readonly issueDue: () => Promise<{ readonly issued: number; readonly waiting: number }>;
  /**
   * Runs `issueDue` now and every half minute until the returned function is called; after that the store is not used any
   * more. The next start issues the rest.
   */
  readonly start: (onProblem?: (error: unknown) => void) => () => void;
};

const INTERVAL_MS = 30_000;
/** How often an idle server writes the time to disk. */
const KEEP_TIME_MS = 3_600_000;

/** Accounts handled in one turn of the event loop. */
const SLICE_ACCOUNTS_MAX = 100;

/** Creates the issuing of invoices for months that are over. */
export function createBilling(dependencies: {
  store: InvoicePort & Pick<MonthPort, "accountsToEnter">;
  meter: Meter;
  clock: BillingClock;
  /** How long a month waits for calls that other processes started in it before it is invoiced; 0 unless given. */
  invoiceDelayMs?: number;
}): Billing {
  const { store, meter, clock, invoiceDelayMs = 0 } = dependencies;

  /** Once set, no further slice is issued, and the store may be closed. */
  let isStopped = false;
  const slices = createSliceSize(SLICE_ACCOUNTS_MAX);
  const isRunning = () => !isStopped;

  /** Enters the new month for accounts without a call since the turn of the month. */
  async function enterMonths(now: number): Promise<void> {
    while (!isStopped) {
      const entered = await slices.attempt(async (accountsMax) => {
        const due = await store.accountsToEnter(now, accountsMax);
        if (due.length > 0 && !isStopped) await meter.enterMonths(due, now);
        return due.length;
      }, isRunning);
      if (entered === 0) return;
      await nextTurn();
    }
  }

  /** Returns the invoice of a month, or null while a running call may still be charged in it. */
  function invoiceOf(month: Month, rows: readonly PlanPeriodRecord[]): NewInvoice | null {
    if (rows.some((row) => meter.isOpen(row.planPeriodId))) return null;
    const { accountId, periodStart, periodEnd } = month;
    const period = { start: periodStart, end: periodEnd };
    const planPeriods = rows.map(planPeriodOf);
    const view = invoiceView(accountId, period, planPeriods);
    const issuedAt = clock.now();
    const invoice = {
      invoiceId: invoiceId(accountId, period),
      accountId,
      periodStart,
      periodEnd,
      units: planPeriods.reduce((total, { units }) => total + units, 0),
      totalMicroUsd: totalOf(invoiceLines(period, planPeriods)),
      body: JSON.stringify(view),
      issuedAt,
    };
    const { invoice_id, plan, period_start, period_end, total_usd } = view;
    const data = { invoice_id, plan, period_start, period_end, total_usd };
    return { invoice, event: { type: "invoice.issued", at: issuedAt, data } };
  }

  async function issueMonths(now: number): Promise<{ issued: number; waiting: number }> {
    let issued = 0;
    let waiting = 0;
    let afterId = 0;
    while (!isStopped) {
      // Calls that were counted but not written belong to the months that are closed here.
      if (!(await meter.flush())) throw new StorageError("calls of the month could not be written");
      const slice = await slices.attempt(async (periodsMax) => {
        const rows = await store.planPeriodsToInvoice(now - invoiceDelayMs, afterId, periodsMax);
        const last = rows.at(-1);
        if (last === undefined || isStopped) return "none";
        const months = new Map(rows.map((row) => [`${row.accountId} ${row.periodStart}`, row]));
        const done = await store.issueInvoices([...months.values()], invoiceOf);
        return { lastId: last.planPeriodId, months: months.size, done };
      }, isRunning);
      if (slice === null) continue;
      if (slice === "none") break;
      afterId = slice.lastId;
      issued += slice.done;
      waiting += slice.months - slice.done;
      await nextTurn();
    }
    return { issued, waiting };
  }

  let running: Promise<{ issued: number; waiting: number }> | undefined;

  async function issueDue(): Promise<{ issued: number; waiting: number }> {
    if (clock.doubt() !== null) return { issued: 0, waiting: 0 };
    running ??= (async () => {
      clock.keep(KEEP_TIME_MS);
      const now = clock.now();
      await enterMonths(now);
      return issueMonths(now);
    })().finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    issueDue,
    start: (onProblem = () => {}) => {
      const run = (): void => {
        issueDue().catch(onProblem);
      };
      isStopped = false;
      run();
      const timer = setInterval(run, INTERVAL_MS);
      timer.unref();
      return () => {
        isStopped = true;
        clearInterval(timer);
      };
    },
  };
}
