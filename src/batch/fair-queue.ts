import type { Clock } from "../platform/clock.ts";
import { createShares } from "./shares.ts";

/** The tenant of some work, and the weight of its time. */
export type Share = {
  /** Opaque: an account's id, or any other name. */
  readonly tenant: string;
  /** Of two waiting tenants, one of twice the weight gets twice the time. */
  readonly weight: number;
};

/** Work that a caller waits for is preferred to background work; neither starves the other. */
export const INTERACTIVE_WEIGHT = 8;
export const BACKGROUND_WEIGHT = 1;

/** The queue is at its limit for this tenant. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** A thread in use. Must be released once, even if the work failed: its time counts either way. */
export type Lease = {
  readonly release: () => void;
  /**
   * Names what is called, once, when the work has taken longer than `patienceMs` while another tenant waits for a thread.
   */
  readonly onOverdue: (end: (reason: Error) => void) => void;
};

export type FairQueue = {
  /** Waits for a thread. Throws QueueFullError at once, or the reason of the signal. */
  readonly acquire: (share: Share, options?: AcquireOptions) => Promise<Lease>;
  /** Suspects the tenant of breaking threads: for a while its work runs on one thread at a time. */
  readonly suspect: (tenant: string) => void;
  readonly running: () => number;
  readonly waiting: () => number;
};

export type AcquireOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The work has failed before. It runs on one thread of its tenant, and is never overdue. */
  readonly isRetry?: boolean | undefined;
};

export type FairQueueOptions = {
  readonly threads: number;
  /** Waiting work of all tenants; see `createShares`. */
  readonly waitingMax: number;
  /** How long work runs undisturbed while another tenant waits. */
  readonly patienceMs: number;
  readonly clock: Clock;
};

/** How long a tenant is suspected after its last failure. */
const SUSPICION_MS = 30_000;
const SUSPECTS_MAX = 10_000;
/** The smoothing factor of the expected cost. */
const SMOOTHING = 0.1;
const EXPECTED_MS_FIRST = 10;

type Waiting = { readonly start: () => void; readonly isRetry: boolean };
type Running = {
  readonly startedMs: number;
  readonly chargedMs: number;
  isOverdue: boolean;
  end: ((reason: Error) => void) | null;
};

/** The waiting and running work of one tenant at one weight. */
type Flow = {
  readonly share: Share;
  readonly waiting: Set<Waiting>;
  readonly running: Set<Running>;
  /** Virtual time at which its next work starts. */
  tag: number;
};

/**
 * Shares threads among tenants by start-time fair queueing (Goyal, Vin, Cheng 1996): of the waiting tenants, the one with
 * the least thread time for its weight is next. All time counts, also of failed and aborted work; it is estimated
 * beforehand and corrected afterwards. A tenant that returns after a pause starts level with the others: idle time is not
 * saved up. A choice is linear in the waiting tenants.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { threads, clock, patienceMs } = options;
  const flows = new Map<string, Flow>();
  const suspectUntilMs = new Map<string, number>();
  const queued = createShares({ capacity: options.waitingMax, guaranteed: 1, overflow: 2 });
  let virtualMs = 0;
  let expectedMs = EXPECTED_MS_FIRST;
  let runningCount = 0;
  let watch: ReturnType<typeof setTimeout> | undefined;
  /** When the watch ends. */
  let watchedMs = Number.POSITIVE_INFINITY;

  function flowOf(share: Share): Flow {
    const key = `${share.weight} ${share.tenant}`;
    const known = flows.get(key);
    if (known !== undefined) return known;
    const flow = { share, waiting: new Set<Waiting>(), running: new Set<Running>(), tag: virtualMs };
    flows.set(key, flow);
    return flow;
  }

  function isSuspect({ share }: Flow): boolean {
    return (suspectUntilMs.get(share.tenant) ?? 0) > clock.monotonic();
  }

  function runningOf(tenant: string): number {
    let count = 0;
    for (const { share, running } of flows.values()) if (share.tenant === tenant) count += running.size;
    return count;
  }

  /** Threads that suspected tenants use together. With two or more threads, one is left to the others. */
  function suspectThreads(): number {
    let count = 0;
    for (const flow of flows.values())
      if (flow.running.size > 0 && isSuspect(flow)) count += flow.running.size;
    return count;
  }

  function mayRun(flow: Flow): boolean {
    const [next] = flow.waiting;
    if (next === undefined) return false;
    if (!next.isRetry && !isSuspect(flow)) return true;
    return runningOf(flow.share.tenant) === 0 && suspectThreads() < Math.max(1, threads - 1);
  }

  /** Running work counts while it runs, not only at its end. */
  function tagOf({ share, running, tag }: Flow): number {
    const nowMs = clock.monotonic();
    let tagNow = tag;
    for (const { startedMs, chargedMs } of running) {
      tagNow += Math.max(0, nowMs - startedMs - chargedMs) / share.weight;
    }
    return tagNow;
  }

  function nextFlow(): Flow | undefined {
    let next: Flow | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const flow of flows.values()) {
      if (!mayRun(flow)) continue;
      const tag = tagOf(flow);
      if (tag >= least) continue;
      next = flow;
      least = tag;
    }
    return next;
  }

  function dispatch(): void {
    while (runningCount < threads) {
      const flow = nextFlow();
      if (flow === undefined) break;
      const [next] = flow.waiting;
      if (next === undefined) break;
      flow.waiting.delete(next);
      queued.release(flow.share.tenant, 1);
      next.start();
    }
    watchRunning();
  }

  function begin(flow: Flow): Lease {
    virtualMs = Math.max(virtualMs, flow.tag);
    const chargedMs = expectedMs;
    flow.tag += chargedMs / flow.share.weight;
    const run: Running = { startedMs: clock.monotonic(), chargedMs, isOverdue: false, end: null };
    flow.running.add(run);
    runningCount += 1;
    return {
      release: () => end(flow, run),
      onOverdue: (endRun) => {
        run.end = endRun;
      },
    };
  }

  function end(flow: Flow, run: Running): void {
    if (!flow.running.delete(run)) return;
    runningCount -= 1;
    const tookMs = clock.monotonic() - run.startedMs;
    flow.tag += (tookMs - run.chargedMs) / flow.share.weight;
    expectedMs += (tookMs - expectedMs) * SMOOTHING;
    dispatch();
    forgetIdle();
  }

  /** Forgets flows without debt, which are like new ones; with nothing running, there is no debt. */
  function forgetIdle(): void {
    const isIdle = runningCount === 0;
    for (const [key, { waiting, running, tag }] of flows) {
      if (waiting.size + running.size === 0 && (isIdle || tag <= virtualMs)) flows.delete(key);
    }
  }

  /** Checks running work when the first of it may be overdue, while any tenant waits. */
  function watchRunning(): void {
    if (queued.held() === 0) return;
    let firstMs = Number.POSITIVE_INFINITY;
    for (const { running } of flows.values()) {
      for (const { startedMs, isOverdue } of running) {
        if (!isOverdue) firstMs = Math.min(firstMs, startedMs + patienceMs);
      }
    }
    if (firstMs === Number.POSITIVE_INFINITY) return;
    const ms = Math.max(1, firstMs - clock.monotonic());
    // A timer for each task would cost more than its place in the queue.
    if (clock.monotonic() + ms < watchedMs) watchIn(ms, endOverdue);
  }

  function watchIn(ms: number, look: () => void): void {
    clearTimeout(watch);
    watchedMs = clock.monotonic() + ms;
    watch = setTimeout(() => {
      watchedMs = Number.POSITIVE_INFINITY;
      look();
    }, ms);
    watch.unref();
  }

  function endOverdue(): void {
    const nowMs = clock.monotonic();
    for (const flow of flows.values()) {
      if (isSuspect(flow) || !othersWait(flow.share.tenant)) continue;
      for (const run of flow.running) {
        if (run.end === null || run.isOverdue || nowMs - run.startedMs < patienceMs) continue;
        run.isOverdue = true;
        run.end(new Error("other tenants wait for a thread"));
      }
    }
    watchIn(untilNextOverdueMs(nowMs), watchRunning);
  }

  /** Milliseconds until the next work reaches its patience. What continues beyond it is checked again after another one. */
  function untilNextOverdueMs(nowMs: number): number {
    let nextMs = patienceMs;
    for (const { running } of flows.values()) {
      for (const { startedMs } of running) {
        const leftMs = startedMs + patienceMs - nowMs;
        if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      }
    }
    return nextMs;
  }

  function othersWait(tenant: string): boolean {
    for (const flow of flows.values()) if (flow.share.tenant !== tenant && mayRun(flow)) return true;
    return false;
  }

  return {
    async acquire(share, { signal, isRetry = false } = {}) {
      signal?.throwIfAborted();
      const flow = flowOf(share);
      if (flow.waiting.size + flow.running.size === 0) flow.tag = Math.max(flow.tag, virtualMs);
      return await new Promise<Lease>((resolve, reject) => {
        const waiting: Waiting = {
          isRetry,
          start() {
            signal?.removeEventListener("abort", leave);
            resolve(begin(flow));
          },
        };
        const leave = () => {
          flow.waiting.delete(waiting);
          queued.release(share.tenant, 1);
          forgetIdle();
          reject(signal?.reason);
        };
        flow.waiting.add(waiting);
        if (runningCount < threads && flow.waiting.size === 1 && mayRun(flow)) {
          flow.waiting.delete(waiting);
          waiting.start();
          return;
        }
        if (!queued.acquire(share.tenant, 1)) {
          flow.waiting.delete(waiting);
          reject(new QueueFullError("The queue for a thread is at its limit"));
          return;
        }
        signal?.addEventListener("abort", leave, { once: true });
        watchRunning();
      });
    },
    suspect(tenant) {
      if (suspectUntilMs.size >= SUSPECTS_MAX) suspectUntilMs.clear();
      suspectUntilMs.delete(tenant);
      suspectUntilMs.set(tenant, clock.monotonic() + SUSPICION_MS);
    },
    running: () => runningCount,
    waiting: () => queued.held(),
  };
}
