import { retryAfterMs } from "../net/retry-after.ts";
import { DAY_MS } from "../platform/days.ts";
import type { AttemptEnd, AttemptOutcome, DeliveryRecord, WebhookFailures } from "../store/webhook-port.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** The wait after each failed attempt. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** How long a webhook may fail before it is disabled. */
const FAILING_MAX_MS = 5 * DAY_MS;
/** Random part of a wait that is added to it, so that the retries after an outage spread. */
const JITTER = 0.1;
/** The longest wait that a receiver may ask for. */
const RETRY_AFTER_MAX_MS = DAY_MS;
/** The longest time from a failed attempt to the next, some 26 hours. */
export const RETRY_WAIT_MAX_MS = Math.max(
  Math.round(Math.max(...RETRY_DELAYS_MS) * (1 + JITTER)),
  RETRY_AFTER_MAX_MS,
);
const GONE = 410;

/** Whether a receiver has taken a delivery: the head of its answer says so, whatever becomes of the body. */
export function isTaken(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

export type EndedAttempt = {
  readonly delivery: Pick<DeliveryRecord, "scheduled" | "url">;
  readonly webhook: WebhookFailures;
  readonly outcome: Pick<AttemptOutcome, "status">;
  /** The Retry-After header of the response. */
  readonly retryAfter: string | null;
  readonly at: number;
  /** From 0 up to 1. */
  readonly random: number;
};

/**
 * Decides what follows an attempt: 2xx is success; 410 disables the webhook, as do five days of failures; otherwise
 * the schedule's next retry. The responses of a job's own address do not count for a webhook.
 */
export function afterAttempt({
  delivery,
  webhook,
  outcome,
  retryAfter,
  at,
  random,
}: EndedAttempt): AttemptEnd {
  const { status } = outcome;
  const isOwn = delivery.url === null;
  if (isTaken(status)) {
    return { state: "delivered", nextAttemptAt: null, webhook: isOwn ? { failingSince: null } : {} };
  }
  const failed = { state: "failed", nextAttemptAt: null } as const;
  const failures = withFailure(webhook, at);
  if (status === GONE) {
    return { ...failed, webhook: isOwn ? { ...failures, disabledReason: "gone" } : {} };
  }
  if (isOwn && failures.failingMs >= FAILING_MAX_MS) {
    return { ...failed, webhook: { ...failures, disabledReason: "failing" } };
  }
  const ofWebhook = isOwn ? failures : {};
  const delayMs = RETRY_DELAYS_MS[delivery.scheduled];
  if (delayMs === undefined) return { ...failed, webhook: ofWebhook };
  const asked = Math.min(retryAfterMs(retryAfter, at) ?? 0, RETRY_AFTER_MAX_MS);
  const waitMs = Math.max(Math.round(delayMs * (1 + JITTER * random)), asked);
  return { state: "pending", nextAttemptAt: at + waitMs, webhook: ofWebhook };
}

/**
 * Adds a failure. The time since the one before it counts up to the longest wait of a retry: a week without events, a server
 * that is down or a clock that jumps is no time in which the webhook failed.
 */
function withFailure({ failingSince, failedAt, failingMs }: WebhookFailures, at: number): WebhookFailures {
  if (failingSince === null) return { failingSince: at, failedAt: at, failingMs: 0 };
  // Before it: of a series of failures that has ended, or not written by a former version.
  const isOfSeries = failedAt !== null && failedAt >= failingSince;
  const sinceMs = at - (isOfSeries ? failedAt : failingSince);
  return {
    // Later than now by a clock that was set back.
    failingSince: Math.min(failingSince, at),
    failedAt: at,
    failingMs: (isOfSeries ? failingMs : 0) + Math.min(Math.max(sinceMs, 0), RETRY_WAIT_MAX_MS),
  };
}
