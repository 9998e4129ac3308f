import type { PlanPeriodRecord } from "../store/account-records.ts";
import { planPeriodOf } from "./plan-periods.ts";
import type { PlanPeriod } from "./plan-shares.ts";

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

/** Returns the tally of a plan period of which nothing is held. */
export function newTally(row: PlanPeriodRecord): Tally {
  return { ...planPeriodOf(row), planPeriodId: row.planPeriodId, heldUnits: 0, openReservations: 0 };
}

/** The tallies with open reservations: kept for as long as these last, so that all of a plan period count on one. */
export type OpenTallies = {
  /** The tally of a plan period as the store has it: the open one where there is one. */
  readonly of: (row: PlanPeriodRecord) => Tally;
  /** The open tally of a plan period. */
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
      // Its units come with its charges: those on their way would count twice here.
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
