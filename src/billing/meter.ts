import { ApiError } from "../contract/errors.ts";
import type { Answer, AtOnce } from "../platform/answer.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { StorageError } from "../store/storage-error.ts";
import type { BillingClock } from "./billing-clock.ts";
import { type ChargeLog, createChargeLog } from "./charge-log.ts";
import { checkEndpoint } from "./endpoint.ts";
import { monthsToEnter } from "./plan-periods.ts";
import type { PlanCatalogue } from "./plans.ts";
import { quotaMarks } from "./quota-marks.ts";
import { quotaExceeded, secondsUntil } from "./quota-refusal.ts";
import { openReservation, type Reservation, type ReservationBook } from "./reservation.ts";
import {
  allowance,
  createLedgers,
  includedUnitsLeft,
  type Ledger,
  type Ledgers,
  unitsLeft,
} from "./usage-ledger.ts";

export type MeteredAccount = { readonly accountId: string };

export type MonthQuota = {
  readonly limitUnits: number;
  readonly remainingUnits: number;
  /** Whether no more than these can be used: the plan sells none beyond them. */
  readonly isHardStop: boolean;
  readonly resetSeconds: number;
};

export type Meter = {
  /**
   * Holds units for one call. Throws an ApiError `quota_exceeded` where they would pass the plan's hard stop or
   * the account's spend limit, `overloaded` where too many charges wait for the disk, `storage_unavailable` where
   * the clock is in doubt. What belongs to an earlier call is not counted as one.
   */
  readonly reserve: (
    account: MeteredAccount,
    units: number,
    options?: { readonly isCall?: boolean },
  ) => Reservation;
  /** Returns how many units could be reserved now: Infinity without a limit. */
  readonly unitsLeft: (account: MeteredAccount) => number;
  /** Returns whether the account has this many units left now. Nothing is held: `reserve` may still refuse them. */
  readonly covers: (account: MeteredAccount, units: number) => boolean;
  /**
   * Returns whether an account may have this many units left, without a look at the database. False holds until the
   * account is changed or its month is over; true is to be looked at, by `enter` and `unitsLeft`.
   */
  readonly mayCover: (account: MeteredAccount, units: number) => boolean;
  /** Counts a call of no units; on disk within two seconds. Not counted while the clock is in doubt. */
  readonly countCall: (account: MeteredAccount, endpoint: string) => void;
  /** The included units of the running month. */
  readonly month: (account: MeteredAccount) => MonthQuota;
  /** The account's month as memory has it; what was charged in it is committed. */
  readonly ledger: (accountId: string) => Answer<Ledger>;
  /** Makes the month of an account known before a call of it is metered, where that takes asking the database. */
  readonly enter: (accountId: string) => Answer<void>;
  /** To be called when plan, plan periods or spend limit of an account were changed in the database. */
  readonly forget: (accountId: string) => void;
  /** Takes accounts into the month of `now`, all or none: those that nobody used since it turned. */
  readonly enterMonths: (accountIds: readonly string[], now: number) => Answer<void>;
  /** Whether a running call may still be charged to this plan period. */
  readonly isOpen: (planPeriodId: number) => boolean;
  /**
   * Writes calls of no units that wait: all of them to the disk, or those of one account so that reads see them. False
   * where some were not taken; they wait on. Of a database that is in this process, charges that wait are written too.
   */
  readonly flush: (accountId?: string) => Answer<boolean>;
  /**
   * Milliseconds, at most 8, for which a call may as well wait before it begins: its charge is not written sooner. 0
   * but where charges of many calls go to a database that other processes write to.
   */
  readonly untilGroupMs: () => number;
  /** Charges that wait for the disk. */
  readonly waiting: () => number;
  readonly close: () => Promise<void>;
};

export const ENTRIES_PER_COMMIT_MAX = 2_000;
const WAITING_MAX = 50_000;
export const LEDGERS_MAX = 50_000;
/** Charges keep the time on disk this often. */
export const KEEP_TIME_MS = 60_000;

/**
 * Meters calls: reserve, work, record. Reservations live in memory, where they guard hard stops and spend
 * limits; a charge is on disk before its call is answered. A crash forgets the reservations and nothing else.
 * A charge belongs to the plan period in which its call began, also when the month or the plan turns before it
 * is written. Ledgers in memory hold because nobody else writes to an embedded store.
 */
export function createMeter(dependencies: {
  store: Pick<EmbeddedStore, "readMonth" | "enterMonth" | "record" | "sync" | "requireSettled" | "isOpen">;
  plans: PlanCatalogue;
  clock: BillingClock;
  /** Called when an account enters a month, in which its plan may be another one. */
  planChanged: (accountId: string) => void;
}): AtOnce<Meter> {
  const { store, plans, clock, planChanged } = dependencies;
  const ledgers = createLedgers({ store, plans, ledgersMax: LEDGERS_MAX, planChanged });
  const calls: OpenCalls = { count: 0 };
  const log = createChargeLog({
    store,
    monotonic: clock.monotonic,
    openCalls: () => calls.count,
    entriesPerCommitMax: ENTRIES_PER_COMMIT_MAX,
    timeToKeep: () => clock.timeToKeep(KEEP_TIME_MS),
    quotaMarks: (charges) => quotaMarks(charges, ledgers.peek, clock.now()),
  });
  const embedded = {
    ...ledgers,
    enter: () => undefined,
    fresh: ledgers.of,
    enterMonths: (accountIds: readonly string[], now: number) => {
      store.enterMonth(accountIds, (account, running) => monthsToEnter(plans, account, running, now));
      for (const accountId of accountIds) {
        ledgers.forget(accountId);
        planChanged(accountId);
      }
    },
  };
  return meterOn({ ledgers: embedded, log, calls, clock, requireSettled: store.requireSettled });
}

/** The ledgers, and how they come from the store and the months that have begun. */
export type MeterLedgers = Pick<Ledgers, "of" | "isKnown" | "forget" | "opened" | "closed" | "isOpen"> &
  Pick<Meter, "enterMonths"> & {
    readonly enter: (accountId: string) => Answer<void>;
    /** The ledger as the store has it now. */
    readonly fresh: (accountId: string, now: number) => Answer<Ledger>;
  };

/** Calls that may still be charged; chunks of jobs do not count, as no group is to wait for them. */
export type OpenCalls = { count: number };

type MeterDependencies<Books, Log> = {
  readonly ledgers: Books;
  readonly log: Log;
  readonly calls: OpenCalls;
  readonly clock: BillingClock;
  readonly requireSettled: () => void;
};

/** Returns a meter on ledgers and a log, which are in this process or shared by several. */
export function meterOn(
  dependencies: MeterDependencies<AtOnce<MeterLedgers>, AtOnce<ChargeLog>>,
): AtOnce<Meter>;
export function meterOn(dependencies: MeterDependencies<MeterLedgers, ChargeLog>): Meter;
export function meterOn(dependencies: MeterDependencies<MeterLedgers, ChargeLog>): Meter {
  const { ledgers, log, calls, clock, requireSettled } = dependencies;

  /** A clock that was set back must not move a call out of the plan period that pays for it. */
  const callTime = (ledger: Ledger, now: number): number =>
    Math.min(Math.max(Math.floor(now), ledger.current.startsAt), ledger.period.end - 1);

  const book: ReservationBook = {
    opened: (tally, isCall) => {
      if (isCall) calls.count += 1;
      ledgers.opened(tally);
    },
    closed: (tally, isCall) => {
      if (isCall) calls.count -= 1;
      ledgers.closed(tally);
    },
    append: log.append,
  };

  return {
    reserve: (account, units, { isCall = true } = {}) => {
      if (!Number.isSafeInteger(units) || units < 0) throw new Error(`${units} units cannot be reserved`);
      if (log.waiting() >= WAITING_MAX) throw new ApiError("overloaded", undefined, { retryAfterSeconds: 1 });
      requireSettled();
      const now = clock.requireTrust();
      const ledger = ledgers.of(account.accountId, now);
      if (units > 0 && units > unitsLeft(ledger)) throw quotaExceeded(ledger, units, now);
      const { accountId, current } = ledger;
      return openReservation(book, { accountId, units, tally: current, at: callTime(ledger, now), isCall });
    },
    unitsLeft: ({ accountId }) => unitsLeft(ledgers.of(accountId, clock.now())),
    covers: ({ accountId }, units) => units <= unitsLeft(ledgers.of(accountId, clock.now())),
    mayCover: ({ accountId }, units) => {
      const now = clock.now();
      return !ledgers.isKnown(accountId, now) || units <= unitsLeft(ledgers.of(accountId, now));
    },
    countCall: ({ accountId }, endpoint) => {
      // Its day is not known. A call of no units that is missing from the counts does less harm than one on a wrong day.
      if (clock.doubt() !== null) return;
      const now = clock.now();
      const ledger = ledgers.of(accountId, now);
      const { planPeriodId } = ledger.current;
      const at = callTime(ledger, now);
      log.appendLater({ accountId, planPeriodId, at, endpoint: checkEndpoint(endpoint), units: 0, calls: 1 });
    },
    month: ({ accountId }) => {
      const now = clock.now();
      const ledger = ledgers.of(accountId, now);
      return {
        limitUnits: allowance(ledger),
        remainingUnits: includedUnitsLeft(ledger),
        isHardStop: ledger.current.overagePriceMicroUsd === null,
        resetSeconds: secondsUntil(ledger.period.end, now),
      };
    },
    ledger: (accountId) => ledgers.fresh(accountId, clock.now()),
    enter: (accountId) => ledgers.enter(accountId),
    forget: ledgers.forget,
    enterMonths: ledgers.enterMonths,
    isOpen: ledgers.isOpen,
    flush: log.flush,
    untilGroupMs: log.untilGroupMs,
    waiting: log.waiting,
    close: async () => {
      if (!(await log.drain())) throw new StorageError("some calls of no units could not be written");
    },
  };
}
