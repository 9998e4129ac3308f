import type { AccountMonth, EmbeddedStore, PlanPeriodRecord } from "../store/port.ts";
import type { Period } from "./period.ts";
import { monthsToEnter, planPeriodOf } from "./plan-periods.ts";
import {
  basePrices,
  includedShare,
  isWithoutPrice,
  overagePrice,
  type PlanPeriod,
  splitUnits,
} from "./plan-shares.ts";
import type { PlanCatalogue } from "./plans.ts";

/** What was used in a plan period, and what is being held for calls that run. */
export type Tally = PlanPeriod & {
  readonly planPeriodId: number;
  /** On disk. */
  units: number;
  endsAt: number;
  creditedUnits: number;
  /** Reserved, or on the way to the disk. */
  heldUnits: number;
  /** Reservations that may still be recorded. */
  openReservations: number;
};

/** The month in which an account is, in memory. */
export type Ledger = {
  readonly accountId: string;
  readonly period: Period;
  /** The plan periods of the month; the last one is running. */
  readonly tallies: readonly Tally[];
  readonly current: Tally;
  /** What the running plan period includes, from its start to the end of the month. */
  readonly includedUnits: number;
  readonly spendLimitMicroUsd: number | null;
};

export type Ledgers = {
  /** The account's ledger; enters the new month where the old one is over `now`. */
  readonly of: (accountId: string, now: number) => Ledger;
  /** The account's ledger as it is, its month over or not; null where there is no such account. */
  readonly peek: (accountId: string) => Ledger | null;
  /** Reads the account's ledger anew when it is next asked for: the database was changed. */
  readonly forget: (accountId: string) => void;
  readonly opened: (tally: Tally) => void;
  readonly closed: (tally: Tally) => void;
  /** Whether a running call may still be charged to this plan period. */
  readonly isOpen: (planPeriodId: number) => boolean;
};

/**
 * Keeps the ledgers of at most `ledgersMax` accounts that were active last. Tallies with open reservations are
 * kept apart for as long as these last, so that every reservation of a plan period counts on the same tally.
 */
export function createLedgers(dependencies: {
  store: Pick<EmbeddedStore, "readMonth" | "enterMonth">;
  plans: PlanCatalogue;
  ledgersMax: number;
  planChanged: (accountId: string) => void;
}): Ledgers {
  const { store, plans, ledgersMax, planChanged } = dependencies;
  const ledgers = new Map<string, Ledger>();
  const openTallies = new Map<number, Tally>();

  function read(accountId: string): AccountMonth {
    const month = store.readMonth(accountId);
    if (month === null) throw new Error("the account has no ledger");
    return month;
  }

  const ledgerIn = (month: AccountMonth): Ledger =>
    ledgerOf(month, (row) => {
      const open = openTallies.get(row.planPeriodId);
      if (open === undefined) return newTally(row);
      open.endsAt = row.endsAt ?? row.periodEnd;
      open.creditedUnits = row.creditedUnits;
      return open;
    });

  function load(accountId: string, now: number): Ledger {
    let month = read(accountId);
    if (isOver(month, now)) {
      store.enterMonth([accountId], (account, running) => monthsToEnter(plans, account, running, now));
      planChanged(accountId);
      month = read(accountId);
    }
    return ledgerIn(month);
  }

  function remember(ledger: Ledger): void {
    if (ledgers.size >= ledgersMax) {
      const [oldest] = ledgers.keys();
      if (oldest !== undefined) ledgers.delete(oldest);
    }
    ledgers.set(ledger.accountId, ledger);
  }

  return {
    of: (accountId, now) => {
      const known = ledgers.get(accountId);
      if (known !== undefined && now < known.period.end) return known;
      ledgers.delete(accountId);
      const ledger = load(accountId, now);
      remember(ledger);
      return ledger;
    },
    peek: (accountId) => {
      const known = ledgers.get(accountId);
      if (known !== undefined) return known;
      const month = store.readMonth(accountId);
      return month === null ? null : ledgerIn(month);
    },
    forget: (accountId) => {
      ledgers.delete(accountId);
    },
    opened: (tally) => {
      tally.openReservations += 1;
      openTallies.set(tally.planPeriodId, tally);
    },
    closed: (tally) => {
      tally.openReservations -= 1;
      if (tally.openReservations === 0) openTallies.delete(tally.planPeriodId);
    },
    isOpen: (planPeriodId) => openTallies.has(planPeriodId),
  };
}

/** Returns the ledger of a month as the store has it. */
export function ledgerOf(
  { account, planPeriods }: AccountMonth,
  tallyOf: (row: PlanPeriodRecord) => Tally = newTally,
): Ledger {
  const tallies = planPeriods.map(tallyOf);
  const [running, current] = [planPeriods.at(-1), tallies.at(-1)];
  if (running === undefined || current === undefined) throw new Error("the account has no plan period");
  const { accountId, spendLimitMicroUsd } = account;
  const period = { start: running.periodStart, end: running.periodEnd };
  const includedUnits = includedShare(period, current);
  return { accountId, period, tallies, current, includedUnits, spendLimitMicroUsd };
}

export function newTally(row: PlanPeriodRecord): Tally {
  return { ...planPeriodOf(row), planPeriodId: row.planPeriodId, heldUnits: 0, openReservations: 0 };
}

export function isOver({ planPeriods }: AccountMonth, now: number): boolean {
  const running = planPeriods.at(-1);
  return running !== undefined && running.periodEnd <= now;
}

/**
 * Returns how many units may be used in the running plan period without being paid one by one, used ones included:
 * its share, and what is left of the month's credited units. Held units of earlier plan periods count as used.
 */
export function allowance(ledger: Ledger): number {
  const { tallies, current, includedUnits, period } = ledger;
  if (tallies.length === 1) return includedUnits + current.creditedUnits;
  const splits = splitUnits(period, tallies, withHeld);
  let included = includedUnits;
  let credits = current.creditedUnits;
  for (const [index, tally] of tallies.slice(0, -1).entries()) {
    const split = splits[index] ?? { included: 0, credited: 0 };
    credits += tally.creditedUnits - split.credited;
    if (isWithoutPrice(tally) && isWithoutPrice(current)) included -= split.included;
  }
  return Math.max(0, included) + credits;
}

/** Returns the units of the allowance that nobody has used or holds. */
export function includedUnitsLeft(ledger: Ledger): number {
  return Math.max(0, allowance(ledger) - withHeld(ledger.current));
}

/** Returns the units of the allowance that were not used, whether calls that run hold some or not. */
export function includedUnitsUnused(ledger: Ledger): number {
  return Math.max(0, allowance(ledger) - ledger.current.units);
}

/**
 * Returns how many more units may be reserved: the allowance where that is a hard stop, and with a spend limit also
 * what its rest pays for. Held units count as if they were all used, so that no order of events passes a limit.
 */
export function unitsLeft(ledger: Ledger): number {
  const price = ledger.current.overagePriceMicroUsd;
  if (price === null) return includedUnitsLeft(ledger);
  if (ledger.spendLimitMicroUsd === null || price === 0) return Number.POSITIVE_INFINITY;
  const { period, tallies } = ledger;
  const base = basePrices(period, tallies).reduce((total, share) => total + share, 0);
  const rest = ledger.spendLimitMicroUsd - base - overagePrice(period, tallies, withHeld);
  return includedUnitsLeft(ledger) + Math.max(0, Math.floor(rest / price));
}

const withHeld = ({ units, heldUnits }: Tally): number => units + heldUnits;
