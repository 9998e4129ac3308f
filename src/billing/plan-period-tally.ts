import type { PlanPeriodRecord } from "../store/account-records.ts";
import { planPeriodOf } from "./plan-periods.ts";
import type { PlanPeriod } from "./plan-shares.ts";

/** The units of a plan period that are used, and those that running calls have reserved. */
export type Tally = PlanPeriod & {
  readonly planPeriodId: number;
  /** On disk. */
  units: number;
  endsAt: number;
  creditedUnits: number;
  /** Reserved, or being written. */
  heldUnits: number;
  /** Reservations that may still be recorded. */
  openReservations: number;
};

/** Returns the tally of a plan period without reservations. */
export function newTally(row: PlanPeriodRecord): Tally {
  return { ...planPeriodOf(row), planPeriodId: row.planPeriodId, heldUnits: 0, openReservations: 0 };
}

/** The tallies with open reservations: kept while these last, so that all of a plan period count on the same one. */
export type OpenTallies = {
  /** Returns the open tally of a stored plan period, or a new one. */
  readonly of: (row: PlanPeriodRecord) => Tally;
  /** Returns the open tally of a plan period. */
  readonly get: (planPeriodId: number) => Tally | undefined;
  readonly opened: (tally: Tally) => void;
  readonly closed: (tally: Tally) => void;
  /** Whether a running call may still be charged to this plan period. */
  readonly isOpen: (planPeriodId: number) => boolean;
};

export function createOpenTallies(): OpenTallies {
  const tallies = new Map<number, Tally>();
  return {
    of: (row) => {
      const open = tallies.get(row.planPeriodId);
      if (open === undefined) return newTally(row);
      // The open tally counts its own charges: taking the stored units would count those being written twice.
      open.endsAt = row.endsAt ?? row.periodEnd;
      open.creditedUnits = row.creditedUnits;
      return open;
    },
    get: (planPeriodId) => tallies.get(planPeriodId),
    opened: (tally) => {
      if (tally.openReservations === 0) tallies.set(tally.planPeriodId, tally);
      tally.openReservations += 1;
    },
    closed: (tally) => {
      tally.openReservations -= 1;
      if (tally.openReservations === 0) tallies.delete(tally.planPeriodId);
    },
    isOpen: (planPeriodId) => tallies.has(planPeriodId),
  };
}
