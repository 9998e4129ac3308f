import type { Answer } from "../platform/answer.ts";
import type {
  AccountMonth,
  AccountRecord,
  EndpointUse,
  FoundKey,
  KeyRecord,
  NewPlanPeriod,
  ReplyRecord,
} from "./account-records.ts";
import type { NewEvent } from "./webhook-port.ts";

/** What a change of plan writes; what is left out stays. */
export type PlanDecision = {
  readonly plan: string;
  readonly pendingPlan: string | null;
  readonly spendLimitMicroUsd?: number | null | undefined;
  /** Ends the running plan period where it starts. */
  readonly started: NewPlanPeriod | null;
};

/** An account's month and what was used in it, endpoint by endpoint. */
export type AccountOverview = { readonly month: AccountMonth; readonly usage: readonly EndpointUse[] };

/** Makes the reply to keep of the outcome of a change. */
export type ReplyOf<Outcome> = (outcome: Outcome) => ReplyRecord | null;

export type AccountPort = {
  /** False, and nothing written, where an account with this normalized mailbox exists. */
  readonly signUp: (account: AccountRecord, key: KeyRecord, planPeriod: NewPlanPeriod) => Answer<boolean>;
  readonly findAccount: (accountId: string) => Answer<AccountRecord | null>;
  readonly readOverview: (accountId: string) => Answer<AccountOverview>;
  /** Returns the account as it is afterwards. `decide` is shown it as it was. */
  readonly changePlan: (
    accountId: string,
    decide: (before: AccountMonth) => PlanDecision,
    replyOf: ReplyOf<AccountOverview>,
  ) => Answer<AccountOverview>;
};

export type KeyPort = {
  readonly findKey: (keyHash: string) => Answer<FoundKey | null>;
  /** Returns the keys of an account that work, or ended after `endedAfter`, oldest first. */
  readonly listKeys: (accountId: string, endedAfter: number) => Answer<readonly KeyRecord[]>;
  /** False, and nothing written, where `keysMax` keys of the account work. */
  readonly addKey: (key: KeyRecord, keysMax: number, reply: ReplyRecord | null) => Answer<boolean>;
  /**
   * Adds a key in the place of another, or of all others where `keyId` is null: these end at `endsAt`, unless they
   * end before. False, and nothing written, where there is no such key that works.
   */
  readonly rotateKey: (
    key: KeyRecord,
    replaced: { readonly keyId: string | null; readonly endsAt: number },
    reply: ReplyRecord | null,
  ) => Answer<boolean>;
  /** Ends a key. `check` is shown the keys that work, and throws to keep it. False where there is no such one. */
  readonly revokeKey: (
    accountId: string,
    keyId: string,
    at: number,
    check: (working: readonly KeyRecord[]) => void,
  ) => Answer<boolean>;
  readonly markKeysUsed: (
    uses: readonly { readonly keyHash: string; readonly lastUsedAt: number }[],
  ) => Answer<void>;
  /**
   * Emits the events of up to `limit` keys that end after one time and until another, each key once; returns how many.
   * Keys that were revoked or rotated are passed over.
   */
  readonly emitExpiringKeys: (
    ending: { readonly after: number; readonly until: number; readonly limit: number },
    eventOf: (key: KeyRecord) => NewEvent,
  ) => Answer<number>;
};
