import type { ChargeEntry, ReplyRecord } from "../store/account-records.ts";
import type { FinishedChunk } from "../store/job-port.ts";
import type { PaidFor } from "./charge-log.ts";
import { checkEndpoint } from "./endpoint.ts";
import type { Tally } from "./plan-period-tally.ts";

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
   * Charges some of the held units, and resolves once they are on disk together with the reply to keep and the
   * chunk of a job.
   * Where it rejects with a StorageError nothing was charged and the units are held as before; with an UnsettledError
   * they count as charged, and the call may be answered neither way. However often it is called, the reservation counts
   * as one call. More than is held is a bug, and thrown. `onCommit` is called once the end of the process no longer undoes
   * the charge: before it is on the disk, which the end of the power would need.
   */
  readonly record: (
    charge: Charge,
    reply?: ReplyRecord | null,
    chunk?: FinishedChunk | null,
    onCommit?: () => void,
  ) => Promise<void>;
  /** Frees what was not recorded. To be called when the call ends, however it ends; again does nothing. */
  readonly release: () => void;
  /** What is on disk. */
  readonly chargedUnits: () => number;
};

/** What a reservation reports to the meter that made it. */
export type ReservationBook = {
  readonly opened: (tally: Tally, isCall: boolean) => void;
  readonly closed: (tally: Tally, isCall: boolean) => void;
  /** Calls `settled` once the entry is on disk, or cannot be. */
  readonly append: (
    entry: ChargeEntry,
    settled: (isOnDisk: boolean) => void,
    paidFor: PaidFor,
  ) => Promise<void>;
};

export type ReservationOptions = {
  readonly accountId: string;
  readonly units: number;
  readonly tally: Tally;
  readonly at: number;
  /** Whether it counts as a call: not where the call that began the work was counted. */
  readonly isCall: boolean;
};

/** Almost every charge. */
const FOR_A_CALL: PaidFor = { reply: null, chunk: null };

/** Holds the units on the tally, and keeps the two in step until the reservation is closed. `at` dates its charges. */
export function openReservation(
  book: ReservationBook,
  { accountId, units, tally, at, isCall }: ReservationOptions,
): Reservation {
  let left = units;
  let charged = 0;
  let recordsRunning = 0;
  let isCallCounted = !isCall;
  let isReleased = false;
  tally.heldUnits += units;
  book.opened(tally, isCall);

  function closeWhenDone(): void {
    if (isReleased && recordsRunning === 0) book.closed(tally, isCall);
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
    record: (charge, reply = null, chunk = null, onCommit = undefined) => {
      if (isReleased) throw new Error("a released reservation cannot be recorded");
      if (!Number.isSafeInteger(charge.units) || charge.units < 0 || charge.units > left) {
        throw new Error(`${charge.units} units cannot be recorded, ${left} are held`);
      }
      const calls = isCallCounted ? 0 : 1;
      const { planPeriodId } = tally;
      const endpoint = checkEndpoint(charge.endpoint);
      const promise = book.append(
        { accountId, planPeriodId, at, endpoint, units: charge.units, calls },
        (isOnDisk) => {
          settle(charge.units, calls, isOnDisk);
          if (isOnDisk) onCommit?.();
        },
        reply === null && chunk === null ? FOR_A_CALL : { reply, chunk },
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
  };
}
