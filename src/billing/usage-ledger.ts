import { AccountErasedError } from "../store/account-port.ts";
import type { AccountMonth, PlanPeriodRecord } from "../store/account-records.ts";
import type { EmbeddedStore } from "../store/port.ts";
import type { Period } from "./period.ts";
import { createOpenTallies, newTally, type OpenTallies, type Tally } from "./plan-period-tally.ts";
import { monthsToEnter } from "./plan-periods.ts";
import { basePrices, includedShare, isWithoutPrice, overagePrice, splitUnits } from "./plan-shares.ts";
import type { PlanCatalogue } from "./plans.ts";

/** The current month of an account, in memory. */
export type Ledger = {
  readonly accountId: string;
  readonly period: Period;
  /** The plan periods of the month; the last one is running. */
  readonly tallies: readonly Tally[];
  readonly current: Tally;
  /** The units that the running plan period includes, from its start to the end of the month. */
  readonly includedUnits: number;
  readonly spendLimitMicroUsd: number | null;
};

export type Ledgers = Pick<OpenTallies, "opened" | "closed" | "isOpen"> & {
  /** Returns the account's ledger; enters the new month where the old one is over at `now`. */
  readonly of: (accountId: string, now: number) => Ledger;
  /** Whether the account's ledger is in memory, its month is not over, and no change but of charges came since. */
  readonly isKnown: (accountId: string, now: number) => boolean;
  /** Returns the account's ledger even if its month is over; null for an unknown account. */
  readonly peek: (accountId: string) => Ledger | null;
  /** Invalidates the account's ledger, because the database was changed. */
  readonly forget: (accountId: string) => void;
};

/**
 * Caches the ledgers of the `ledgersMax` most recently used accounts.
 */
export function createLedgers(dependencies: {
  store: Pick<EmbeddedStore, "readMonth" | "enterMonth">;
  plans: PlanCatalogue;
  ledgersMax: number;
  planChanged: (accountId: string) => void;
}): Ledgers {
  const { store, plans, ledgersMax, planChanged } = dependencies;
  const ledgers = new Map<string, Ledger>();
  const openTallies = createOpenTallies();

  function read(accountId: string): AccountMonth {
    const month = store.readMonth(accountId);
    if (month === null) throw new AccountErasedError();
    return month;
  }

  const ledgerIn = (month: AccountMonth): Ledger => ledgerOf(month, openTallies.of);

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
    isKnown: (accountId, now) => now < (ledgers.get(accountId)?.period.end ?? Number.NEGATIVE_INFINITY),
    peek: (accountId) => {
      const known = ledgers.get(accountId);
      if (known !== undefined) return known;
      const month = store.readMonth(accountId);
      return month === null ? null : ledgerIn(month);
    },
    forget: (accountId) => {
      ledgers.delete(accountId);
    },
    opened: openTallies.opened,
    closed: openTallies.closed,
    isOpen: openTallies.isOpen,
  };
}

/** Returns the ledger of a month from its stored records. */
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

/** Returns the ledger as if a plan period of the month still ran, with all that is charged to it. */
export function ledgerWhile(ledger: Ledger, tally: Tally): Ledger {
  if (tally === ledger.current) return ledger;
  const current = { ...tally, endsAt: ledger.period.end };
  const tallies = [...ledger.tallies.slice(0, ledger.tallies.indexOf(tally)), current];
  return { ...ledger, tallies, current, includedUnits: includedShare(ledger.period, current) };
}

/** Returns whether further units of a plan period of the month cost something, and more than the spend limit pays for. */
export function wouldPassSpendLimit(ledger: Ledger, tally: Tally, units: number): boolean {
  const { spendLimitMicroUsd } = ledger;
  if (spendLimitMicroUsd === null) return false;
  const price = priceOfMonth(ledger, (each) => withHeld(each) + (each === tally ? units : 0));
  return price > priceOfMonth(ledger, withHeld) && price > spendLimitMicroUsd;
}

/** Returns whether the month of the running plan period has ended. */
export function isOver({ planPeriods }: AccountMonth, now: number): boolean {
  const running = planPeriods.at(-1);
  return running !== undefined && running.periodEnd <= now;
}

/**
 * Returns the allowance of the running plan period in units, used ones included: its share, and the rest of the month's
 * credited units. Reserved units of earlier plan periods count as used.
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

/** Returns the units of the allowance that are neither used nor reserved. */
export function includedUnitsLeft(ledger: Ledger): number {
  return Math.max(0, allowance(ledger) - withHeld(ledger.current));
}

/** Returns the units of the allowance that are not used; reserved ones count as unused. */
export function includedUnitsUnused(ledger: Ledger): number {
  return Math.max(0, allowance(ledger) - ledger.current.units);
}

/**
 * Returns how many more units may be reserved: the rest of the allowance for a hard stop, and with a spend limit also the
 * units that its rest pays for. Reserved units count as used, so that no order of events exceeds a limit.
 */
export function unitsLeft(ledger: Ledger): number {
  const price = ledger.current.overagePriceMicroUsd;
  if (price === null) return includedUnitsLeft(ledger);
  if (ledger.spendLimitMicroUsd === null || price === 0) return Number.POSITIVE_INFINITY;
  const rest = ledger.spendLimitMicroUsd - priceOfMonth(ledger, withHeld);
  return includedUnitsLeft(ledger) + Math.max(0, Math.floor(rest / price));
}

/** Returns the base prices of the month's plans, and the price of the units beyond the included ones. */
function priceOfMonth({ period, tallies }: Ledger, unitsOf: (tally: Tally) => number): number {
  const base = basePrices(period, tallies).reduce((total, share) => total + share, 0);
  return base + overagePrice(period, tallies, unitsOf);
}

const withHeld = ({ units, heldUnits }: Tally): number => units + heldUnits;
