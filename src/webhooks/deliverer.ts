import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore } from "../store/port.ts";
import type { AttemptOutcome, DeliveryRecord, WebhookRecord } from "../store/webhook-port.ts";
import { afterAttempt } from "./delivery-schedule.ts";
import { signedHeaders } from "./signature.ts";

export type DelivererDependencies = {
  readonly store: EmbeddedStore;
  readonly client: HttpClient;
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
};

export type Deliverer = AsyncDisposable & {
  /** Takes up what is due, as far as there is room. */
  readonly pump: () => void;
  /** Resolves once nothing is in flight. */
  readonly idle: () => Promise<void>;
  /** Puts back what a former process was sending, and looks for what is due from now on. */
  readonly start: () => void;
  readonly inFlight: () => number;
  readonly stats: () => DelivererStats;
};

/** What attempts came to since the start; `retried` ones have another attempt to come. */
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
  const inFlight = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const outcomes = { delivered: 0, retried: 0, failed: 0 };
  const timers: ReturnType<typeof setInterval>[] = [];

  function guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      report(error);
    }
  }

  function take(): void {
    while (!stop.signal.aborted && running.size < settings.inFlightMax) {
      const full = [...inFlight].filter(([, count]) => count >= settings.accountInFlightMax);
      const claimed = store.claimDelivery(
        clock.now(),
        full.map(([accountId]) => accountId),
      );
      if (claimed === null) return;
      const { accountId } = claimed.delivery;
      inFlight.set(accountId, (inFlight.get(accountId) ?? 0) + 1);
      const attempt = send(claimed.delivery, claimed.webhook)
        .catch(report)
        .finally(() => {
          running.delete(attempt);
          const left = (inFlight.get(accountId) ?? 1) - 1;
          if (left === 0) inFlight.delete(accountId);
          else inFlight.set(accountId, left);
          guarded(take);
        });
      running.add(attempt);
    }
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
    store.endAttempt(delivery.deliveryId, at, outcome, end);
    outcomes[end.state === "pending" ? "retried" : end.state] += 1;
  }

  function prune(): void {
    store.removeDeliveries(retentionClock.now() - KEPT_MS, PRUNED_AT_ONCE_MAX);
  }

  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
  };
  return {
    pump: () => guarded(take),
    idle,
    start() {
      store.reapDeliveries();
      guarded(take);
      guarded(prune);
      timers.push(setInterval(() => guarded(take), POLL_MS));
      timers.push(setInterval(() => guarded(prune), PRUNE_MS));
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
