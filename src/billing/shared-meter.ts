import type { ChargeEntry } from "../store/account-records.ts";
import type { SharedStore } from "../store/port.ts";
import type { BillingClock } from "./billing-clock.ts";
import {
  ENTRIES_PER_COMMIT_MAX,
  KEEP_TIME_MS,
  LEDGERS_MAX,
  type Meter,
  meterOn,
  type OpenCalls,
} from "./meter.ts";
import { type PlanCatalogue, planOf } from "./plans.ts";
import { endedPlanExceeded, quotaExceeded } from "./quota-refusal.ts";
import { rateLimited } from "./rate-refusal.ts";
import { createSharedChargeLog } from "./shared-charge-log.ts";
import { createSharedLedgers } from "./shared-ledgers.ts";

export type SharedMeter = Meter & {
  /** Reads all months anew when they are next asked for: what became of them is not known. */
  readonly forgetAll: () => void;
};

/**
 * Meters calls where several processes charge the same accounts: reserve, work, ask the store. Reservations of this
 * process keep floods from the store; which charges the month has units for, the store decides when it writes them,
 * so that a charge may still be refused then.
 */
export function createSharedMeter(dependencies: {
  readonly store: SharedStore;
  readonly plans: PlanCatalogue;
  readonly clock: BillingClock;
  /** Called when an account enters a month, in which its plan may be another one. */
  readonly planChanged: (accountId: string) => void;
  /** Called with how long the store takes for charges of calls. */
  readonly onCallsWait?: (ms: number) => void;
}): SharedMeter {
  const { store, plans, clock, planChanged, onCallsWait = () => undefined } = dependencies;
  const calls: OpenCalls = { count: 0 };
  const ledgers = createSharedLedgers({ store, plans, clock, ledgersMax: LEDGERS_MAX, planChanged });
  const planNow = ({ accountId, at }: Pick<ChargeEntry, "accountId" | "at">) =>
    planOf(plans, ledgers.of(accountId, at).current.plan);
  const log = createSharedChargeLog({
    store,
    clock,
    openCalls: () => calls.count,
    entriesPerCommitMax: ENTRIES_PER_COMMIT_MAX,
    onCallsWait,
    timeToKeep: () => clock.timeToKeep(KEEP_TIME_MS),
    rateOf: (entry) => {
      const { requestsPerSecond, burst } = planNow(entry);
      const stepMs = 1_000 / requestsPerSecond;
      return { stepMs, burstMs: stepMs * burst, ageMs: Math.max(0, clock.now() - entry.at) };
    },
    rateRefusal: (entry) => rateLimited(1, planNow(entry)),
    refresh: ledgers.refresh,
    quotaRefusal: ({ accountId, at, units, planPeriodId }) => {
      const ledger = ledgers.of(accountId, at);
      const isRunning = planPeriodId === ledger.current.planPeriodId;
      const refusal = isRunning ? quotaExceeded(ledger, units, clock.now()) : endedPlanExceeded(units);
      ledgers.forget(accountId);
      return refusal;
    },
  });
  const meter = meterOn({ ledgers, log, calls, clock, requireSettled: () => undefined });
  return { ...meter, forgetAll: ledgers.forgetAll };
}
