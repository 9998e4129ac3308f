import type { Answer } from "../platform/answer.ts";
import type {
  AccountMonth,
  AccountRecord,
  EndpointUse,
  FoundKey,
  KeyRecord,
  KeyUse,
  NewPlanPeriod,
  ReplyRecord,
} from "./account-records.ts";
import type { NewEvent } from "./webhook-port.ts";

/** The writes of a change of plan. */
export type PlanDecision = {
  readonly plan: string;
  readonly pendingPlan: string | null;
  readonly spendLimitMicroUsd?: number | null | undefined;
  /** Starts where the running plan period ends. */
  readonly started: NewPlanPeriod | null;
};

/** An account's month, with its usage by endpoint. */
export type AccountOverview = { readonly month: AccountMonth; readonly usage: readonly EndpointUse[] };

/** Returns the reply to keep for the outcome of a change. */
export type ReplyOf<Outcome> = (outcome: Outcome) => ReplyRecord | null;

/** The data of the account were erased, or there is no such account: nothing was written. */
export class AccountErasedError extends Error {
  override readonly name = "AccountErasedError";

  constructor() {
    super("The data of this account were erased.");
  }
}

export type AccountPort = {
  /** False, and nothing written, where an account with this normalized mailbox exists. */
  readonly signUp: (account: AccountRecord, key: KeyRecord, planPeriod: NewPlanPeriod) => Answer<boolean>;
  readonly findAccount: (accountId: string) => Answer<AccountRecord | null>;
  readonly readOverview: (accountId: string) => Answer<AccountOverview>;
  /** Returns the changed account. `decide` gets it before the change. */
  readonly changePlan: (
    accountId: string,
    decide: (before: AccountMonth) => PlanDecision,
    replyOf: ReplyOf<AccountOverview>,
  ) => Answer<AccountOverview>;
};

/** With each key that is added, some go that ended, are not listed and are too old to repeat a rotation with. */
export type KeyPort = {
  readonly findKey: (keyHash: string) => Answer<FoundKey | null>;
  /**
   * Returns the keys of an account that are valid at `now`, and of those that ended after `endedAfter` the last
   * `ENDED_KEYS_MAX`, oldest first. `now` is `endedAfter` unless given.
   */
  readonly listKeys: (accountId: string, endedAfter: number, now?: number) => Answer<readonly KeyRecord[]>;
  /**
   * False, and nothing written, where the account has `keysMax` valid keys. Throws an AccountErasedError, as `rotateKey`
   * does.
   */
  readonly addKey: (key: KeyRecord, keysMax: number, reply: ReplyRecord | null) => Answer<boolean>;
  /**
   * Adds a key that replaces another, or all others where `keyId` is null: these expire at `endsAt`, unless they expire
   * earlier, and are revoked then where that is no later than the new key's creation. `check` gets the valid keys and may
   * throw to prevent it. False, and nothing written, where there is no such valid key.
   */
  readonly rotateKey: (
    key: KeyRecord,
    replaced: {
      readonly keyId: string | null;
      readonly endsAt: number;
      readonly check?: (working: readonly KeyRecord[]) => void;
    },
    reply: ReplyRecord | null,
  ) => Answer<boolean>;
  /** Revokes a key. `check` gets the valid keys and may throw to prevent it. False where there is no such valid key. */
  readonly revokeKey: (
    accountId: string,
    keyId: string,
    at: number,
    check: (working: readonly KeyRecord[]) => void,
  ) => Answer<boolean>;
  readonly markKeysUsed: (uses: readonly KeyUse[]) => Answer<void>;
  /**
   * Emits one event for each of up to `limit` keys that expire in a range of time; returns their number. Revoked and rotated
   * keys are skipped.
   */
  readonly emitExpiringKeys: (
    ending: { readonly after: number; readonly until: number; readonly limit: number },
    eventOf: (key: KeyRecord) => NewEvent,
  ) => Answer<number>;
  /** Removes up to `limit` keys that ended at `endedUntil` or before; returns how many. */
  readonly removeEndedKeys: (endedUntil: number, limit: number) => Answer<number>;
};
