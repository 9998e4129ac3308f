import type { Tally } from "./ledger.ts";

export type Charge = {
  /** The route's template, at most 64 characters: what usage is grouped by. */
  readonly endpoint: string;
  readonly units: number;
};

/** Units that are held for one call until they are recorded or released. */
export type Reservation = {
  readonly accountId: string;
  readonly units: number;
  /**
   * Charges some of the held units, and resolves once they are on disk together with what `alongside` wrote.
   * Where it rejects with a StorageError nothing was charged and the units are held as before. However often it
   * is called, the reservation counts as one call. More than is held is a bug, and thrown.
   */
  readonly record: (charge: Charge, alongside?: () => void) => Promise<void>;
  /** Frees what was not recorded. To be called when the call ends, however it ends; again does nothing. */
  readonly release: () => void;
  /** What is on disk. */
  readonly chargedUnits: () => number;
  /** Units that the plan's hard stop leaves to the account; null where the plan has none. */
  readonly remainingUnits: () => number | null;
};

/** Holds the units on the tally, and keeps the two in step until the reservation is closed. */
export function openReservation(parts: {
  accountId: string;
  units: number;
  tally: Tally;
  opened: (tally: Tally) => void;
  closed: (tally: Tally) => void;
  remainingUnits: () => number | null;
  append: (
    charge: Charge,
    calls: number,
    settled: (isOnDisk: boolean) => void,
    alongside: (() => void) | undefined,
  ) => Promise<void>;
}): Reservation {
  const { accountId, units, tally } = parts;
  let left = units;
  let charged = 0;
  let recordsRunning = 0;
  let isCallCounted = false;
  let isReleased = false;
  tally.heldUnits += units;
  parts.opened(tally);

  function closeWhenDone(): void {
    if (isReleased && recordsRunning === 0) parts.closed(tally);
  }

  function settle(recorded: number, calls: number, isOnDisk: boolean): void {
    recordsRunning -= 1;
    if (isOnDisk) {
      tally.units += recorded;
      tally.heldUnits -= recorded;
      charged += recorded;
    } else {
      if (calls > 0) isCallCounted = false;
      if (isReleased) tally.heldUnits -= recorded;
      else left += recorded;
    }
    closeWhenDone();
  }

  return {
    accountId,
    units,
    record: (charge, alongside) => {
      if (isReleased) throw new Error("a released reservation cannot be recorded");
      if (!Number.isSafeInteger(charge.units) || charge.units < 0 || charge.units > left) {
        throw new Error(`${charge.units} units cannot be recorded, ${left} are held`);
      }
      const calls = isCallCounted ? 0 : 1;
      const promise = parts.append(
        charge,
        calls,
        (isOnDisk) => settle(charge.units, calls, isOnDisk),
        alongside,
      );
      left -= charge.units;
      recordsRunning += 1;
      isCallCounted = true;
      return promise;
    },
    release: () => {
      if (isReleased) return;
      isReleased = true;
      tally.heldUnits -= left;
      left = 0;
      closeWhenDone();
    },
    chargedUnits: () => charged,
    remainingUnits: parts.remainingUnits,
  };
}
