import { writeSync } from "node:fs";
import { confirmClock } from "../../src/billing/billing-clock.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { PLAN_NAMES } from "../../src/contract/words.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { openAccounting, signUp } from "./accounting.ts";

// A server's worth of work without the server, to be killed at any moment: calls, plan changes and months that
// turn every 0.4 s. Writes to standard output what callers would have been answered, once they would have been.

const [dataDir = "", beginAt = ""] = process.argv.slice(2);
const MS_PER_MS = 7_000_000;

const startedAt = performance.now();
const clock: Clock = {
  now: () => Math.floor(Number(beginAt) + (performance.now() - startedAt) * MS_PER_MS),
  monotonic: () => performance.now() + 1_000,
};
const accounting = openAccounting({ clock: { ...clock, advance: () => {}, set: () => {} }, dataDir });
confirmClock(accounting.store, clock.now());
const accountIds = PLAN_NAMES.map(
  (plan) => signUp(accounting, plan, `${plan}-${beginAt}@example.com`).accountId,
);

function write(line: string): void {
  writeSync(1, `${line}\n`);
}

async function call(accountId: string, units: number): Promise<void> {
  const reservation = accounting.meter.reserve({ accountId }, units + 1);
  try {
    write(`asked ${accountId} ${units}`);
    await reservation.record({ endpoint: "/v1/email/verify", units });
    write(`acked ${accountId} ${units}`);
  } finally {
    reservation.release();
  }
}

async function callForEver(accountId: string, seed: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await call(accountId, 1 + ((seed + count) % 5));
      if (count % 40 === seed) {
        accounting.accounts.changePlan(accountId, { plan: PLAN_NAMES[(seed + count) % 4] ?? "free" });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Out of units until the month turns.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

async function billForEver(): Promise<void> {
  for (;;) {
    // A slow machine may let more than 35 of its days pass between two turns.
    confirmClock(accounting.store, clock.now());
    await accounting.billing.issueDue();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

write("ready");
await Promise.race([
  billForEver(),
  ...accountIds.flatMap((id) => [1, 2, 3].map((seed) => callForEver(id, seed))),
]);
