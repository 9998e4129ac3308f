import type { Answer } from "../platform/answer.ts";
import type { AccountRecord, KeyRecord } from "./account-records.ts";
import type { JobRecord } from "./job-records.ts";

/** What an operator asks of a running server; without an outcome until it is done. */
export type OperatorCommand = {
  readonly commandId: number;
  readonly askedAt: number;
  readonly operator: string;
  readonly command: string;
  /** `UNREPORTED` where it is done, and what came of it is not written yet. */
  readonly outcome: string | null;
};

/** The outcome of a command that must not be run again, and that only its effect is known of. */
export const UNREPORTED = "";

/** The outcome of a command that is written with its effect: whatever ends the server, it is not run twice. */
export type CommandAnswer = { readonly commandId: number; readonly outcome: string };

/** The command was taken back, or another process has done it: nothing was written. */
export class CommandEndedError extends Error {
  override readonly name = "CommandEndedError";
}

/** Throws a CommandEndedError where a change found its command no longer open. */
export function requireOpen(isOpen: boolean): void {
  if (!isOpen) throw new CommandEndedError("The command was taken back, or is done.");
}

/** What an operator did. It never changes and never goes. */
export type OperatorAct = {
  readonly actId: number;
  readonly at: number;
  readonly operator: string;
  readonly action: string;
  readonly accountId: string | null;
  readonly details: string;
};

/** A place among the jobs of an account. */
export type JobPlace = Pick<JobRecord, "createdAt" | "jobId">;

export type KeptClock = { readonly keptAt: number; readonly confirmedAt: number | null };

/** The acts of operators, the accounts as they see them, and the time that was kept last. */
export type OperatorPort = {
  readonly findAccountByMailbox: (normalized: string) => Answer<AccountRecord | null>;
  /** Returns up to `limit` accounts in the order of their ids, after `afterId`. */
  readonly accountPage: (afterId: string, limit: number) => Answer<readonly AccountRecord[]>;
  /**
   * The act is recorded in the same transaction; null gives the account its keys back. Throws a CommandEndedError where
   * the command is not open.
   */
  readonly suspendAccount: (
    accountId: string,
    suspendedAt: number | null,
    act: Omit<OperatorAct, "actId">,
    answer?: CommandAnswer,
  ) => Answer<void>;
  /**
   * Gives units for nothing in the month of a plan period. The command that asks for it is `UNREPORTED` in the same
   * transaction: whatever ends the server, it is not given twice. Throws a CommandEndedError where it is not open.
   */
  readonly creditUnits: (
    planPeriodId: number,
    units: number,
    act: Omit<OperatorAct, "actId">,
    commandId?: number,
  ) => Answer<void>;
  /** Ends all keys of an account as the given one begins. Throws a CommandEndedError where the command is not open. */
  readonly replaceKeys: (
    key: KeyRecord,
    act: Omit<OperatorAct, "actId">,
    answer?: CommandAnswer,
  ) => Answer<void>;
  /**
   * Removes the personal data and the working keys of an account, of which none is found from now on, deletes its
   * unfinished jobs and ends its running plan period. Its id, counts and invoices stay. Its ended keys and jobs, which may
   * be a million, are left to `clearErasedKeys` and `clearErasedJobs`. Throws a CommandEndedError where the command is not
   * open.
   */
  readonly eraseAccount: (
    accountId: string,
    erasedAt: number,
    act: Omit<OperatorAct, "actId">,
    answer?: CommandAnswer,
  ) => Answer<void>;
  /** Returns the erased accounts whose keys and jobs are not all cleared. */
  readonly accountsToClear: () => Answer<readonly string[]>;
  /** Removes up to `limit` keys of an erased account whose jobs are not all cleared; returns how many. */
  readonly clearErasedKeys: (accountId: string, limit: number) => Answer<number>;
  /**
   * Deletes up to `limit` jobs of an erased account, and what was said about them: the oldest ones behind a place. Returns
   * the place of the last; null without any left, which ends the erasure, and where none is under way.
   */
  readonly clearErasedJobs: (
    accountId: string,
    after: JobPlace | null,
    limit: number,
  ) => Answer<JobPlace | null>;
  /** Returns the number by which the outcome is found. */
  readonly askCommand: (command: Omit<OperatorCommand, "commandId" | "outcome">) => Answer<number>;
  /** Returns the oldest command behind another without an outcome, or with one that is unreported; 0 is behind none. */
  readonly nextCommand: (behindId: number) => Answer<OperatorCommand | null>;
  readonly answerCommand: (commandId: number, outcome: string) => Answer<void>;
  /** Returns null also where it is unreported. */
  readonly commandOutcome: (commandId: number) => Answer<string | null>;
  /** Takes a command back. False where it has an outcome already. */
  readonly withdrawCommand: (commandId: number) => Answer<boolean>;
  /** Outcomes may hold personal data: they go once they are read. */
  readonly removeCommand: (commandId: number) => Answer<void>;
  /** Removes outcomes that nobody came to read. */
  readonly removeAnsweredCommands: (askedBefore: number) => Answer<void>;
  readonly recordAct: (act: Omit<OperatorAct, "actId">) => Answer<void>;
  /** Returns the newest acts first. */
  readonly acts: (limit: number) => Answer<readonly OperatorAct[]>;
  /** Returns the last time that the clock showed while it was trusted, and the time that an operator confirmed. */
  readonly findKeptClock: () => Answer<KeptClock | null>;
  readonly keepClock: (keptAt: number) => Answer<void>;
  readonly confirmClock: (confirmedAt: number) => Answer<void>;
};
