import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpClient } from "../net/http-client.ts";
import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import type { AttemptOutcome, DeliveryRecord, WebhookPort, WebhookRecord } from "../store/webhook-port.ts";
import { afterAttempt, isTaken } from "./delivery-schedule.ts";
import { createDeliveryShares, type DeliverySharesSettings } from "./delivery-shares.ts";
import { removeOldDeliveries } from "./old-deliveries.ts";
import { recallStranded } from "./recalled-deliveries.ts";
import { signedHeaders } from "./signature.ts";

export type DelivererDependencies = {
  readonly store: WebhookPort;
  readonly client: Pick<HttpClient, "send">;
  readonly clock: Clock;
  /** The clock of the deliveries' retention. */
  readonly retentionClock: Pick<Clock, "now">;
  readonly random: () => number;
  readonly report: (error: unknown) => void;
  readonly settings: DelivererSettings;
};

export type DelivererSettings = DeliverySharesSettings & {
  /** How often the deliveries of processes that are gone are reaped; null without other processes. */
  readonly reapEveryMs: number | null;
};

export type Deliverer = AsyncDisposable & {
  /** Starts the deliveries that are due, within the limits; resolves once they are started. */
  readonly pump: () => Promise<void>;
  /** Resolves once nothing is in flight. */
  readonly idle: () => Promise<void>;
  /** Reaps the deliveries of the former process, and starts to poll for due ones. */
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

/** The limits of one attempt; the first bytes of the response are kept. */
export const DELIVERY_LIMITS = {
  connectTimeoutMs: 5_000,
  headTimeoutMs: 15_000,
  idleTimeoutMs: 15_000,
  totalTimeoutMs: 15_000,
} as const;
const ANSWER_BYTES_MAX = 1_024;
const POLL_MS = 500;
const PRUNE_MS = 60_000;
/** How long a clock that is set back may hold deliveries up. */
const RECALL_MS = 60_000;

/** Sends due deliveries: a bounded number at a time, each account within its share. */
export function createDeliverer(dependencies: DelivererDependencies): Deliverer {
  const { store, client, clock, retentionClock, random, report, settings } = dependencies;
  const { reapEveryMs } = settings;
  const shares = createDeliveryShares(settings, clock);
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

  /** Starts due deliveries. Claims one at a time, so that no account exceeds its share. */
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
      while (!stop.signal.aborted && (await takeNext())) {
        // Yield: attempts that fail at once, as for an unknown name, would otherwise block the event loop.
        await nextTurn();
      }
    }
  }

  /** False where nothing is due of an account that may have one more under way. */
  async function takeNext(): Promise<boolean> {
    const full = shares.full();
    const claimed = full === null ? null : await store.claimDelivery(clock.now(), full);
    if (claimed === null) return false;
    const end = shares.begin(claimed.delivery.accountId);
    const attempt = send(claimed.delivery, claimed.webhook)
      .catch(report)
      .finally(() => {
        running.delete(attempt);
        end();
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
    // A delivery that the end of this process interrupts is sent by the next one.
    if (stop.signal.aborted) return;
    const latencyMs = Math.round(reply.totalMs);
    const outcome: AttemptOutcome = reply.ok
      ? { status: reply.status, error: null, latencyMs, answer: Buffer.from(reply.body).toString() }
      : { status: reply.status, error: isTaken(reply.status) ? null : reply.reason, latencyMs, answer: null };
    const retryAfter = reply.headers?.get("retry-after") ?? null;
    const at = clock.now();
    const ended = afterAttempt({ delivery, webhook, outcome, retryAfter, at, random: random() });
    const end = delivery.url === null ? { ...ended, claimed: webhook } : ended;
    if (!(await stored(async () => store.endAttempt(delivery, at, outcome, end)))) return;
    outcomes[end.state === "pending" ? "retried" : end.state] += 1;
  }

  /** Retries a write that the store refuses: until an attempt is ended, its delivery is not continued. */
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

  const prune = () => removeOldDeliveries(store, retentionClock.now(), stop.signal);

  const recall = () => recallStranded(store, clock.now(), stop.signal);

  const reap = async (): Promise<void> => void (await store.reapDeliveries());

  const idle = async (): Promise<void> => {
    while (taking !== null || running.size > 0) await Promise.all([taking, ...running]);
  };
  return {
    pump,
    idle,
    async start() {
      await guarded(reap);
      await guarded(recall);
      void pump();
      void guarded(prune);
      timers.push(setInterval(() => void pump(), POLL_MS));
      timers.push(setInterval(() => void guarded(prune), PRUNE_MS));
      timers.push(setInterval(() => void guarded(recall), RECALL_MS));
      // Only a store that processes share lets one of them take over what another was sending.
      if (reapEveryMs !== null) timers.push(setInterval(() => void guarded(reap), reapEveryMs));
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
