import type { Answer } from "../platform/answer.ts";
import type { AccountMonth, ChargeEntry, ReplyRecord } from "./account-records.ts";
import type { QuotaMark } from "./billing-port.ts";
import type { FinishedChunk } from "./job-records.ts";

// Use cases of a store that several processes write to: charges are decided inside its transactions, as what a process has
// read may be stale.

/** A requested charge, with the records that it pays for. */
export type Admission = {
  readonly entry: ChargeEntry;
  readonly reply: ReplyRecord | null;
  /** The chunk of a job that it pays for. */
  readonly chunk: FinishedChunk | null;
  /** The rate that the call counts against; null where it counts against none. */
  readonly rate: AdmissionRate | null;
};

/**
 * GCRA: the emission interval, and the time to refill the whole burst. `ageMs` is the age of the call: slow calls that end
 * together are not a burst.
 */
export type AdmissionRate = { readonly stepMs: number; readonly burstMs: number; readonly ageMs: number };

export type AdmissionGroup = {
  /** Charges of jobs and of calls have lanes of their own; the groups of one lane are sequential. */
  readonly lane: "calls" | "chunks";
  /** The account whose own lane this is; absent for the lanes that accounts share. */
  readonly apart?: string;
  /** Counts up with each group of this process in its lane. A group that is sent again with its number is written once. */
  readonly sequence: number;
  readonly admissions: readonly Admission[];
  /** Calls of no units that nobody waits for. */
  readonly others: readonly ChargeEntry[];
  /** The time to keep beside them, or null. */
  readonly keptAt: number | null;
};

/**
 * What became of a charge: written, or refused for the quota or spend limit, for the rate, because its month is
 * invoiced, or because another call took its Idempotency-Key over, or another process its chunk.
 */
export type AdmissionOutcome = "charged" | "quota" | "rate" | "invoiced" | "claim_lost" | "chunk_lost";

export type Admitted = {
  readonly outcomes: readonly AdmissionOutcome[];
  /** Units of plan periods as they are now; empty where the group was written by an earlier try. */
  readonly units: ReadonlyMap<number, number>;
};

/** Returns for each entry whether the month, which is theirs, has the units left, in order of arrival. */
export type FitsMonth = (month: AccountMonth, entries: readonly ChargeEntry[]) => readonly boolean[];

/** Returns the shares of a month's units that are used up by further units. */
export type MarksOfMonth = (month: AccountMonth, addedUnits: number) => readonly QuotaMark[];

/**
 * Returns up to how many units of the running plan period every charge is admitted and none makes a mark, for as long
 * as nothing else of the month changes; Infinity where there is no such number.
 */
export type PlainUnitsOfMonth = (month: AccountMonth) => number;

/** What is decided inside the transaction, of months as they are there. */
export type AdmissionRules = {
  readonly fits: FitsMonth;
  readonly marksOf: MarksOfMonth;
  readonly plainUnits: PlainUnitsOfMonth;
};

/** Another call has taken over the Idempotency-Key of this one, which stood still for too long. Nothing was written. */
export class KeyLostError extends Error {
  override readonly name = "KeyLostError";
}

export type ClaimOutcome =
  | { readonly isClaimed: true }
  /** A call with this fingerprint runs. */
  | { readonly isClaimed: false; readonly fingerprint: string };

export type AdmitPort = {
  /**
   * Decides over charges in order of arrival and writes those that are admitted, with the replies that they pay for,
   * as one transaction. What other processes write to the same accounts comes before or after it as a whole. Rejects
   * with a RowsHeldError where another session holds a row for too long, and with a NoRoomError where the disk is full.
   */
  readonly admit: (group: AdmissionGroup, rules: AdmissionRules) => Promise<Admitted>;
  /** Takes an Idempotency-Key for a call, for as long as this process renews its claims. */
  readonly claimKey: (accountId: string, idempotencyKey: string, fingerprint: string) => Answer<ClaimOutcome>;
  /** Gives a claimed key back. */
  readonly releaseKey: (accountId: string, idempotencyKey: string) => Answer<void>;
  /** Renews the leases of all claims of this process, and removes those of processes that are gone. */
  readonly renewClaims: () => Answer<void>;
  /** Returns the accounts whose keys, plan or month changed in the last `withinMs`. */
  readonly changedAccounts: (withinMs: number) => Answer<readonly string[]>;
  /**
   * Announces the accounts that other processes change as it happens, where the way to the store lets it; returns what
   * ends it. What is missed is found by `changedAccounts`.
   */
  readonly listenForChanges: (listener: {
    readonly onChange: (accountId: string) => void;
    /** Called when the announcements begin, and after each time that there were none. */
    readonly resumed: () => void;
  }) => () => void;
};
