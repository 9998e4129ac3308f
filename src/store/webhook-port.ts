import type { Answer } from "../platform/answer.ts";
import type { ReplyRecord } from "./account-records.ts";

// Webhooks and what is to be delivered to them. An event is written in the transaction of the change that it reports,
// with one delivery for each webhook that wants it; the rows of deliveries are their queue.

/** Why a webhook takes nothing: its owner said so, it answered 410, or it failed for too long. */
export type DisabledReason = "by_caller" | "gone" | "failing";

/** A secret that signs beside its successor until it ends. */
export type FormerSecret = { readonly secret: string; readonly endsAt: number };

export type WebhookRecord = {
  readonly webhookId: string;
  readonly accountId: string;
  readonly url: string;
  /** Null: all of them. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  /** Null while it is enabled. */
  readonly disabledReason: DisabledReason | null;
  /** Kept as it is, as it has to sign. */
  readonly secret: string;
  readonly formerSecrets: readonly FormerSecret[];
  readonly createdAt: number;
  /** When the first attempt failed since the last one that succeeded. */
  readonly failingSince: number | null;
  /** When the last one failed; like `failingMs` it says nothing while `failingSince` is null. */
  readonly failedAt: number | null;
  /** How long it has failed by then, without what is too long between two attempts. */
  readonly failingMs: number;
};

/** The failures of a webhook without a success among them. */
export type WebhookFailures = Pick<WebhookRecord, "failingSince" | "failedAt" | "failingMs">;

/** What becomes of a webhook; what is left out stays. */
export type WebhookChange = Partial<
  Pick<WebhookRecord, "url" | "events" | "disabledReason" | "secret" | "formerSecrets"> & WebhookFailures
>;

export type DeliveryState = "pending" | "sending" | "delivered" | "failed";

/** The outcome of an attempt. */
export type AttemptOutcome = {
  /** Null where there was no answer. */
  readonly status: number | null;
  /** A word that says what went wrong; null for an answer. */
  readonly error: string | null;
  readonly latencyMs: number;
  /** The beginning of the body. */
  readonly answer: string | null;
};

export type DeliveryRecord = AttemptOutcome & {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** Where a job asks for deliveries to another address than the webhook's. */
  readonly url: string | null;
  /** The same for all deliveries of one event. */
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  readonly createdAt: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Attempts since the event or the last replay: the place in the schedule. */
  readonly scheduled: number;
  readonly lastAttemptAt: number | null;
  readonly nextAttemptAt: number | null;
  /** Counts its claims. */
  readonly claims: number;
};

/** The claim that an attempt is made under: one whose delivery was claimed anew since then changes nothing. */
export type DeliveryClaim = Pick<DeliveryRecord, "deliveryId" | "claims">;

/** What follows an attempt; one that is delivered or has failed for good has no next attempt. */
export type AttemptEnd = {
  readonly state: Exclude<DeliveryState, "sending">;
  readonly nextAttemptAt: number | null;
  /** Of the webhook; left out, it stays. */
  readonly webhook: Pick<WebhookChange, "disabledReason" | keyof WebhookFailures>;
  /** The webhook as it was when its own address was tried; left out for an address of a job. */
  readonly claimed?: Pick<WebhookRecord, "url" | "failingSince">;
};

export type NewEvent = { readonly type: string; readonly at: number; readonly data: unknown };

export type DeliveryPage = {
  readonly webhookId: string;
  readonly afterDeliveryId: string | null;
  /** Older ones are left out. */
  readonly since: number;
  readonly limit: number;
};

export type WebhookPort = {
  /** Adds a webhook unless its account has `webhooksMax`; returns whether it did. Throws an AccountErasedError. */
  readonly createWebhook: (
    webhook: WebhookRecord,
    webhooksMax: number,
    reply: ReplyRecord | null,
  ) => Answer<boolean>;
  readonly findWebhook: (accountId: string, webhookId: string) => Answer<WebhookRecord | null>;
  /** Returns the webhooks of an account, oldest first. */
  readonly webhooksOf: (accountId: string) => Answer<readonly WebhookRecord[]>;
  /**
   * Changes a webhook by what `changeOf` makes of it, in one step with it: of changes at once none is lost. One that is
   * disabled by it has no attempts left: `DELIVERIES_AT_ONCE_MAX` pending deliveries are given up with the change, more of
   * them by later calls of `claimDelivery`, unless it is enabled before. Null where it is missing.
   */
  readonly changeWebhook: (
    accountId: string,
    webhookId: string,
    changeOf: (before: WebhookRecord) => WebhookChange,
    replyOf: (after: WebhookRecord) => ReplyRecord | null,
  ) => Answer<WebhookRecord | null>;
  /**
   * Removes a webhook and its deliveries; false where it is missing. Deliveries that the store cannot remove now are left
   * to `removeDeliveries`.
   */
  readonly removeWebhook: (accountId: string, webhookId: string) => Answer<boolean>;
  /**
   * Writes an event for one webhook, whichever it asked for; null where it is missing or disabled by now. It takes the
   * place of the oldest test event where there are `TEST_DELIVERIES_MAX`, whatever the state of that is.
   */
  readonly addDelivery: (
    webhook: WebhookRecord,
    event: NewEvent,
    replyOf: (delivery: DeliveryRecord) => ReplyRecord | null,
  ) => Answer<DeliveryRecord | null>;
  /** Returns deliveries newest first; null where `afterDeliveryId` names none of the webhook. */
  readonly deliveryPage: (page: DeliveryPage) => Answer<readonly DeliveryRecord[] | null>;
  /**
   * Puts a delivery at the beginning of the schedule; null where it is missing, or its webhook is missing or disabled by
   * now. One that is being sent stays.
   */
  readonly replayDelivery: (
    webhookId: string,
    deliveryId: string,
    at: number,
    replyOf: (delivery: DeliveryRecord) => ReplyRecord | null,
  ) => Answer<DeliveryRecord | null>;
  /**
   * Claims a delivery that is due, of none of these accounts. Webhooks take turns, so that one with many waits for the
   * others after each. Null where none is due.
   */
  readonly claimDelivery: (
    now: number,
    exceptAccounts: readonly string[],
  ) => Answer<{ readonly delivery: DeliveryRecord; readonly webhook: WebhookRecord } | null>;
  /**
   * Makes pending deliveries, and turns of webhooks, due at `now` that are due after `latest`, up to `limit` of them;
   * returns how many.
   */
  readonly recallDeliveries: (now: number, latest: number, limit: number) => Answer<number>;
  /** When the delivery that waits longest was, or is, due; null where none waits. */
  readonly nextDueAt: () => Answer<number | null>;
  /** Writes the outcome of a claimed delivery. One that was removed, put back or claimed anew meanwhile is passed over. */
  readonly endAttempt: (
    claim: DeliveryClaim,
    at: number,
    outcome: AttemptOutcome,
    end: AttemptEnd,
  ) => Answer<void>;
  /**
   * Puts all deliveries back that a former process had claimed, but those of a webhook that was disabled meanwhile, which
   * are given up; returns how many were claimed.
   */
  readonly reapDeliveries: () => Answer<number>;
  /**
   * Removes up to `limit` deliveries that are older and have no attempt left, or whose webhook is gone; returns how many.
   * Those of the latter kind may be found by a later call alone.
   */
  readonly removeDeliveries: (before: number, limit: number) => Answer<number>;
};
