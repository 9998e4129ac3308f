import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";
import { createTally } from "../platform/tally.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import type { AttemptOutcome, DeliveryRecord, WebhookPort, WebhookRecord } from "../store/webhook-port.ts";
import { afterAttempt } from "./delivery-schedule.ts";
import { signedHeaders } from "./signature.ts";

export type DelivererDependencies = {
  readonly store: WebhookPort;
  readonly client: Pick<HttpClient, "send">;
  readonly clock: Clock;
  /** By which deliveries grow old and are removed. */
  readonly retentionClock: Pick<Clock, "now">;
  readonly random: () => number;
  readonly report: (error: unknown) => void;
  readonly settings: DelivererSettings;
};

export type DelivererSettings = {
  readonly inFlightMax: number;
  /** Of one account, so that receivers that hang hold up nobody else. */
  readonly accountInFlightMax: number;
  /** How often deliveries are looked for that a process was sending which is gone; null where there is no other one. */
  readonly reapEveryMs: number | null;
};

export type Deliverer = AsyncDisposable & {
  /** Takes up what is due, as far as there is room; resolves when that is under way. */
  readonly pump: () => Promise<void>;
  /** Resolves once nothing is in flight. */
  readonly idle: () => Promise<void>;
  /** Puts back what a former process was sending, and looks for what is due from now on. */
  readonly start: () => Promise<void>;
  readonly inFlight: () => number;
  readonly stats: () => DelivererStats;
};

/** Outcomes of attempts since the start; `retried` ones have another attempt to come. */
export type DelivererStats = {
  readonly delivered: number;
  readonly retried: number;
  readonly failed: number;
};

/** What one attempt may take; the answer's first bytes are kept. */
export const DELIVERY_LIMITS = {
  connectTimeoutMs: 5_000,
  headTimeoutMs: 15_000,
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 15_000,
} as const;
const ANSWER_BYTES_MAX = 1_024;
const POLL_MS = 500;
const PRUNE_MS = 60_000;
export const KEPT_MS = 30 * 86_400_000;
const PRUNED_AT_ONCE_MAX = 500;

/** Sends what is due to webhooks: a few at a time, each account within its share. */
export function createDeliverer(dependencies: DelivererDependencies): Deliverer {
  const { store, client, clock, retentionClock, random, report, settings } = dependencies;
  const inFlight = createTally();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const outcomes = { delivered: 0, retried: 0, failed: 0 };
  const timers: ReturnType<typeof setInterval>[] = [];

  let taking: Promise<void> | null = null;
  let isAsked = false;

  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      report(error);
    }
  }

  /** Takes up what is due; one claims at a time, so that no account has more than its share. */
  function pump(): Promise<void> {
    isAsked = true;
    taking ??= guarded(takeAll).finally(() => {
      taking = null;
    });
    return taking;
  }

  async function takeAll(): Promise<void> {
    while (isAsked) {
      isAsked = false;
      while (!stop.signal.aborted && running.size < settings.inFlightMax && (await takeNext())) {
        // Attempts that fail at once, as for a name that does not exist, would leave nobody else a turn.
        await nextTurn();
      }
    }
  }

  /** False where nothing is due. */
  async function takeNext(): Promise<boolean> {
    const full = [...inFlight.entries()].filter(([, count]) => count >= settings.accountInFlightMax);
    const claimed = await store.claimDelivery(
      clock.now(),
      full.map(([accountId]) => accountId),
    );
    if (claimed === null) return false;
    const { accountId } = claimed.delivery;
    inFlight.add(accountId, 1);
    const attempt = send(claimed.delivery, claimed.webhook)
      .catch(report)
      .finally(() => {
        running.delete(attempt);
        inFlight.add(accountId, -1);
        void pump();
      });
    running.add(attempt);
    return true;
  }

  async function send(delivery: DeliveryRecord, webhook: WebhookRecord): Promise<void> {
    const startedAt = clock.now();
    const secrets = [webhook.secret, ...standing(webhook, startedAt)];
    const { eventId: id, body } = delivery;
    const reply = await client.send(delivery.url ?? webhook.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...signedHeaders({ id, at: startedAt, body, secrets }),
      },
      body,
      bodyBytesMax: ANSWER_BYTES_MAX,
      truncateBody: true,
      signal: stop.signal,
    });
    // What was cut off by the end of this process is sent by the next one.
    if (stop.signal.aborted) return;
    const latencyMs = Math.round(reply.totalMs);
    const outcome: AttemptOutcome = reply.ok
      ? { status: reply.status, error: null, latencyMs, answer: Buffer.from(reply.body).toString() }
      : { status: reply.status, error: reply.reason, latencyMs, answer: null };
    const retryAfter = reply.ok ? reply.headers.get("retry-after") : null;
    const at = clock.now();
    const end = afterAttempt({ delivery, webhook, outcome, retryAfter, at, random: random() });
    if (!(await stored(async () => store.endAttempt(delivery.deliveryId, at, outcome, end)))) return;
    outcomes[end.state === "pending" ? "retried" : end.state] += 1;
  }

  /** Tries again what the store does not take now: nobody sends a delivery further whose attempt has not ended. */
  async function stored(write: () => Promise<void>): Promise<boolean> {
    for (let isFirst = true; !stop.signal.aborted; isFirst = false) {
      try {
        await write();
        return true;
      } catch (error) {
        if (!isStorageFailure(error)) throw error;
        if (isFirst) report(error);
      }
      await pause(POLL_MS, stop.signal);
    }
    return false;
  }

  async function prune(): Promise<void> {
    await store.removeDeliveries(retentionClock.now() - KEPT_MS, PRUNED_AT_ONCE_MAX);
  }

  async function reap(): Promise<void> {
    await store.reapDeliveries();
  }

  const idle = async (): Promise<void> => {
    while (taking !== null || running.size > 0) await Promise.all([taking, ...running]);
  };
  return {
    pump,
    idle,
    async start() {
      await guarded(reap);
      void pump();
      void guarded(prune);
      timers.push(setInterval(() => void pump(), POLL_MS));
      timers.push(setInterval(() => void guarded(prune), PRUNE_MS));
      // Only a store that processes share lets one of them take over what another was sending.
      if (settings.reapEveryMs !== null)
        timers.push(setInterval(() => void guarded(reap), settings.reapEveryMs));
    },
    inFlight: () => running.size,
    stats: () => ({ ...outcomes }),
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      stop.abort();
      await idle();
    },
  };
}

function standing({ formerSecrets }: WebhookRecord, now: number): readonly string[] {
  return formerSecrets.filter(({ endsAt }) => endsAt > now).map(({ secret }) => secret);
}
