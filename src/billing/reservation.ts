import type { ChargeEntry, ReplyRecord } from "../store/account-records.ts";
import type { FinishedChunk } from "../store/job-records.ts";
import type { ChargeLog, PaidFor, UnitHold } from "./charge-log.ts";
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
   * they count as charged unless the commit was undone, and the call may be answered neither way. However often it is
   * called, the reservation counts as one call. More than is held is a bug, and thrown. `onCommit` is called once the end
   * of the process no longer undoes the charge: before it is on the disk, which the end of the power would need.
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
  /** Settles the hold once the entry is on disk, or cannot be. */
  readonly append: ChargeLog["append"];
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
export function openReservation(book: ReservationBook, options: ReservationOptions): Reservation {
  return new OpenReservation(book, options);
}

/** A class, as every single check opens one: its functions would be made anew for each, a tenth of what a charge takes. */
class OpenReservation implements Reservation, UnitHold {
  readonly accountId: string;
  readonly units: number;
  readonly #book: ReservationBook;
  readonly #tally: Tally;
  readonly #at: number;
  readonly #isCall: boolean;
  #left: number;
  #charged = 0;
  #recordsRunning = 0;
  #isCallCounted: boolean;
  #isReleased = false;

  constructor(book: ReservationBook, { accountId, units, tally, at, isCall }: ReservationOptions) {
    this.accountId = accountId;
    this.units = units;
    this.#book = book;
    this.#tally = tally;
    this.#at = at;
    this.#isCall = isCall;
    this.#left = units;
    this.#isCallCounted = !isCall;
    tally.heldUnits += units;
    book.opened(tally, isCall);
  }

  record(
    { endpoint, units }: Charge,
    reply: ReplyRecord | null = null,
    chunk: FinishedChunk | null = null,
    onCommit?: () => void,
  ): Promise<void> {
    if (this.#isReleased) throw new Error("a released reservation cannot be recorded");
    if (!Number.isSafeInteger(units) || units < 0 || units > this.#left) {
      throw new Error(`${units} units cannot be recorded, ${this.#left} are held`);
    }
    const calls = this.#isCallCounted ? 0 : 1;
    const { accountId } = this;
    const { planPeriodId } = this.#tally;
    const promise = this.#book.append(
      { accountId, planPeriodId, at: this.#at, endpoint: checkEndpoint(endpoint), units, calls },
      onCommit === undefined
        ? this
        : {
            settle: (entry, isOnDisk) => {
              this.settle(entry, isOnDisk);
              if (isOnDisk) onCommit();
            },
          },
      reply === null && chunk === null ? FOR_A_CALL : { reply, chunk },
    );
    this.#left -= units;
    this.#recordsRunning += 1;
    this.#isCallCounted = true;
    return promise;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#tally.heldUnits -= this.#left;
    this.#left = 0;
    this.#closeWhenDone();
  }

  chargedUnits(): number {
    return this.#charged;
  }

  settle({ units: recorded, calls }: ChargeEntry, isOnDisk: boolean): void {
    this.#recordsRunning -= 1;
    if (isOnDisk) {
      this.#tally.units += recorded;
      this.#tally.heldUnits -= recorded;
      this.#charged += recorded;
    } else {
      if (calls > 0) this.#isCallCounted = false;
      if (this.#isReleased) this.#tally.heldUnits -= recorded;
      else this.#left += recorded;
    }
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#isReleased && this.#recordsRunning === 0) this.#book.closed(this.#tally, this.#isCall);
  }
}
