import type { Clock } from "../platform/clock.ts";
import type { PaymentStore } from "../store/payment-port.ts";

/** Clears up settlements of unknown outcome, each again and again until it is settled or released. */
export type SettlementPoll = AsyncDisposable & {
  /** Takes up what a former process left open. */
  readonly start: () => void;
  readonly add: (paymentId: string) => void;
  /** How many are open. */
  readonly open: () => number;
};

export type SettlementPollOptions = {
  readonly store: Pick<PaymentStore, "settling" | "doubt">;
  readonly clock: Clock;
  /** Sends the settlement once more; true once its outcome is known. */
  readonly attempt: (paymentId: string) => Promise<boolean>;
  readonly reportError: (error: unknown) => void;
  /** The wait before the first attempt; it doubles from attempt to attempt up to `delayMsMax`. */
  readonly delayMs: number;
  readonly delayMsMax: number;
};

/** Attempts at a time. */
const CONCURRENCY = 8;
/** Beyond these, a payment is taken up when it is shown again, or at the next start. */
const OPEN_MAX = 10_000;

type Entry = { dueMs: number; delayMs: number };

export function createSettlementPoll(options: SettlementPollOptions): SettlementPoll {
  const { store, clock, attempt, reportError, delayMs, delayMsMax } = options;
  const open = new Map<string, Entry>();
  const running = new Map<string, Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  function schedule(): void {
    clearTimeout(timer);
    if (isClosed || running.size >= CONCURRENCY) return;
    const next = nextDue();
    if (next === null) return;
    timer = setTimeout(run, Math.max(0, next - clock.monotonic()));
    timer.unref();
  }

  function nextDue(): number | null {
    let next: number | null = null;
    for (const [id, { dueMs }] of open) {
      if (!running.has(id) && (next === null || dueMs < next)) next = dueMs;
    }
    return next;
  }

  function run(): void {
    const nowMs = clock.monotonic();
    for (const [id, entry] of open) {
      if (running.size >= CONCURRENCY) break;
      if (entry.dueMs > nowMs || running.has(id)) continue;
      running.set(id, attemptOne(id, entry));
    }
    schedule();
  }

  async function attemptOne(id: string, entry: Entry): Promise<void> {
    try {
      if (await attempt(id)) open.delete(id);
    } catch (error) {
      reportError(error);
    }
    entry.dueMs = clock.monotonic() + entry.delayMs;
    entry.delayMs = Math.min(delayMsMax, entry.delayMs * 2);
    running.delete(id);
    schedule();
  }

  function add(paymentId: string): void {
    if (isClosed || open.has(paymentId) || open.size >= OPEN_MAX) return;
    open.set(paymentId, { dueMs: clock.monotonic() + delayMs, delayMs: delayMs * 2 });
    schedule();
  }

  return {
    start() {
      for (const { paymentId } of store.settling(OPEN_MAX)) {
        // Whether it was sent, the process that ended knew alone.
        store.doubt(paymentId);
        open.set(paymentId, { dueMs: clock.monotonic(), delayMs });
      }
      schedule();
    },
    add,
    open: () => open.size,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
