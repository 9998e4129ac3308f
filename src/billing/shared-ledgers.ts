import type { Answer } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import { AccountErasedError } from "../store/account-port.ts";
import type { AccountMonth } from "../store/account-records.ts";
import type { MonthPort } from "../store/billing-port.ts";
import { StorageError } from "../store/storage-error.ts";
import type { MeterLedgers } from "./meter.ts";
import { createOpenTallies } from "./plan-period-tally.ts";
import { monthsToEnter } from "./plan-periods.ts";
import type { PlanCatalogue } from "./plans.ts";
import { isOver, type Ledger, ledgerOf } from "./usage-ledger.ts";

export type SharedLedgers = MeterLedgers & {
  /** Takes over what the store counts in plan periods now. */
  readonly refresh: (units: ReadonlyMap<number, number>) => void;
  /** Reads all ledgers anew when they are next asked for. */
  readonly forgetAll: () => void;
};

type Known = { readonly ledger: Ledger; readonly readMs: number; isOld: boolean };

/** What is cached holds no longer than this, even where another node changes it. */
const FRESH_MS = 5_000;

/**
 * Keeps what this process knows of the months of at most `ledgersMax` accounts, which other processes charge too: a
 * check in front of the store, which decides. A ledger is read before a call is metered, and again once it is old.
 */
export function createSharedLedgers(dependencies: {
  readonly store: MonthPort;
  readonly plans: PlanCatalogue;
  readonly clock: Clock;
  readonly ledgersMax: number;
  readonly planChanged: (accountId: string) => void;
}): SharedLedgers {
  const { store, plans, clock, ledgersMax, planChanged } = dependencies;
  const ledgers = new Map<string, Known>();
  const openTallies = createOpenTallies();
  const loading = new Map<string, Promise<Ledger>>();

  async function readMonth(accountId: string): Promise<AccountMonth> {
    const month = await store.readMonth(accountId);
    if (month === null) throw new AccountErasedError();
    return month;
  }

  async function enterMonths(accountIds: readonly string[], now: number): Promise<void> {
    await store.enterMonth(accountIds, (account, running) => monthsToEnter(plans, account, running, now));
    for (const accountId of accountIds) {
      forget(accountId);
      planChanged(accountId);
    }
  }

  async function load(accountId: string, now: number): Promise<Ledger> {
    let month = await readMonth(accountId);
    if (isOver(month, now)) {
      await enterMonths([accountId], now);
      month = await readMonth(accountId);
    }
    const ledger = ledgerOf(month, openTallies.of);
    ledgers.delete(accountId);
    const [oldest] = ledgers.keys();
    if (ledgers.size >= ledgersMax && oldest !== undefined) ledgers.delete(oldest);
    ledgers.set(accountId, { ledger, readMs: clock.monotonic(), isOld: false });
    return ledger;
  }

  /** Calls of one account that come at once wait for one reading. */
  function fresh(accountId: string, now: number): Promise<Ledger> {
    const known = loading.get(accountId);
    if (known !== undefined) return known;
    const loaded = load(accountId, now).finally(() => loading.delete(accountId));
    loading.set(accountId, loaded);
    return loaded;
  }

  function forget(accountId: string): void {
    const known = ledgers.get(accountId);
    if (known !== undefined) known.isOld = true;
  }

  function known(accountId: string): Ledger {
    const found = ledgers.get(accountId);
    if (found === undefined) throw new StorageError("the month of the account is not known here");
    return found.ledger;
  }

  return {
    of: known,
    enter: (accountId): Answer<void> => {
      const now = clock.now();
      const found = ledgers.get(accountId);
      const isFresh =
        found !== undefined &&
        !found.isOld &&
        now < found.ledger.period.end &&
        clock.monotonic() - found.readMs < FRESH_MS;
      return isFresh ? undefined : fresh(accountId, now).then(() => undefined);
    },
    isKnown: (accountId, now) => {
      const found = ledgers.get(accountId);
      return found !== undefined && !found.isOld && now < found.ledger.period.end;
    },
    fresh: (accountId, now) => load(accountId, now),
    enterMonths,
    forget,
    forgetAll: () => {
      for (const each of ledgers.values()) each.isOld = true;
    },
    refresh: (units) => {
      for (const [planPeriodId, counted] of units) {
        const tally = openTallies.get(planPeriodId);
        if (tally !== undefined) tally.units = counted;
      }
    },
    opened: openTallies.opened,
    closed: openTallies.closed,
    isOpen: openTallies.isOpen,
  };
}
