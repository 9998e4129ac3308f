import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearErasedAccount } from "../../src/accounts/account-erasure.ts";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { type RandomBytes, systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { createBilling } from "../../src/billing/billing.ts";
import { confirmClock, createBillingClock } from "../../src/billing/billing-clock.ts";
import { createIdempotency } from "../../src/billing/idempotency.ts";
import { createMeter } from "../../src/billing/meter.ts";
import { DEFAULT_PLANS, type PlanCatalogue } from "../../src/billing/plans.ts";
import type { PlanName } from "../../src/contract/words.ts";
import type { Clock } from "../../src/platform/clock.ts";
import type { SyncFile } from "../../src/store/sqlite/connection/log-sync.ts";
import { openStore } from "../../src/store/sqlite/open.ts";

/** A clock that stands still until it is moved. */
export type HandClock = Clock & {
  readonly advance: (ms: number) => void;
  /** Sets the time of day, as an operator would; durations do not notice. */
  readonly set: (at: number | string) => void;
};

export function handClock(at = "2026-11-20T12:00:00Z"): HandClock {
  let now = Date.parse(at);
  let monotonic = 1_000_000;
  return {
    now: () => now,
    monotonic: () => monotonic,
    advance: (ms) => {
      now += ms;
      monotonic += ms;
    },
    set: (to) => {
      now = typeof to === "string" ? Date.parse(to) : to;
    },
  };
}

export type Accounting = ReturnType<typeof openAccounting>;

/** Store, meter and accounts over a directory, or over memory without one. */
export function openAccounting(options: {
  clock: HandClock;
  dataDir?: string;
  plans?: PlanCatalogue;
  randomBytes?: RandomBytes;
  syncFile?: SyncFile;
}) {
  const { clock, dataDir, plans = DEFAULT_PLANS, randomBytes = systemRandomBytes, syncFile } = options;
  const store = openStore(
    dataDir === undefined
      ? { path: ":memory:", clock }
      : { dataDir, clock, ...(syncFile === undefined ? {} : { syncFile }) },
  );
  const keyRing = createKeyRing({ store, plans, clock });
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  const billing = createBilling({ store, meter, clock: billingClock });
  const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
  const directory = dataDir === undefined ? null : join(dataDir, "idempotency");
  const idempotency = createIdempotency({ store, directory, clock: billingClock });
  const clearErased = (accountId: string) => clearErasedAccount(store, accountId);
  const counting = { keyRing, meter, billing, accounts, idempotency };
  return { clock, billingClock, plans, store, ...counting, clearErased };
}

let signups = 0;

/** A new account; its mailbox is one of its own unless given. */
export function signUp(accounting: Accounting, plan: PlanName = "free", email?: string) {
  signups += 1;
  const address = email ?? `user${signups}@example.com`;
  return accounting.accounts.signup({
    email: address,
    normalized: address,
    name: null,
    company: null,
    country: null,
    plan,
    referralCode: null,
  });
}

/** One call, from the reservation to the disk. */
export async function charge(
  accounting: Accounting,
  accountId: string,
  units: number,
  endpoint = "/v1/email/verify",
) {
  const reservation = accounting.meter.reserve({ accountId }, units);
  try {
    await reservation.record({ endpoint, units });
  } finally {
    reservation.release();
  }
}

/** Sets the clock ahead by any time, and has an operator confirm it. */
export function setConfirmed(accounting: Accounting, at: number | string): void {
  accounting.clock.set(at);
  confirmClock(accounting.store, accounting.clock.now());
}

/** A directory that is gone after the callback. */
export async function withDirectory<T>(use: (path: string) => T | Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), "assay-test-"));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
