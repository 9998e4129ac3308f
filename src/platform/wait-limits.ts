import type { Clock } from "./clock.ts";

/** How long a wait may last. */
export type WaitLimit = {
  /** On `Clock.monotonic`; the wait ends up to 10 ms later. */
  readonly deadlineMs?: number | undefined;
  /** Ends the wait when aborted; not aborted yet. */
  readonly signal?: AbortSignal | undefined;
};

/** A wait that is limited, for `ended`. */
export type LimitedWait = {
  readonly giveUp: () => void;
  readonly sameDeadline: WaitsOfDeadline | undefined;
  readonly sameSignal: Set<LimitedWait> | undefined;
};

type WaitsOfDeadline = {
  readonly waits: Set<LimitedWait>;
  readonly key: number;
  readonly timer: ReturnType<typeof setTimeout>;
};

/**
 * Ends waits at their limits. A timer serves all deadlines of 10 ms, and a listener all waits for one signal: with one of
 * each for every wait, a batch of new domains would spend a sixth of the main thread's time on them.
 */
export type WaitLimits = {
  /** Calls `giveUp` once, at the first limit that is reached, unless `ended` is called before. */
  readonly begin: (limit: WaitLimit, giveUp: () => void) => LimitedWait;
  readonly ended: (wait: LimitedWait) => void;
};

const GRAIN_MS = 10;

export function createWaitLimits(clock: Pick<Clock, "monotonic">): WaitLimits {
  const byDeadline = new Map<number, WaitsOfDeadline>();
  const bySignal = new WeakMap<AbortSignal, Set<LimitedWait>>();

  function waitsUntil(deadlineMs: number): WaitsOfDeadline {
    const key = Math.ceil(deadlineMs / GRAIN_MS);
    const known = byDeadline.get(key);
    if (known !== undefined) return known;
    const waits = new Set<LimitedWait>();
    const expire = () => {
      byDeadline.delete(key);
      giveUpAll(waits);
    };
    const timer = setTimeout(expire, Math.max(0, key * GRAIN_MS - clock.monotonic()));
    const made = { waits, key, timer };
    byDeadline.set(key, made);
    return made;
  }

  function waitsFor(signal: AbortSignal): Set<LimitedWait> {
    const known = bySignal.get(signal);
    if (known !== undefined) return known;
    const waits = new Set<LimitedWait>();
    signal.addEventListener("abort", () => giveUpAll(waits), { once: true });
    bySignal.set(signal, waits);
    return waits;
  }

  function giveUpAll(waits: ReadonlySet<LimitedWait>): void {
    for (const wait of waits) {
      ended(wait);
      wait.giveUp();
    }
  }

  function begin({ deadlineMs, signal }: WaitLimit, giveUp: () => void): LimitedWait {
    const wait: LimitedWait = {
      giveUp,
      sameDeadline: deadlineMs === undefined ? undefined : waitsUntil(deadlineMs),
      sameSignal: signal === undefined ? undefined : waitsFor(signal),
    };
    wait.sameDeadline?.waits.add(wait);
    wait.sameSignal?.add(wait);
    return wait;
  }

  function ended(wait: LimitedWait): void {
    const { sameDeadline, sameSignal } = wait;
    sameSignal?.delete(wait);
    if (sameDeadline === undefined) return;
    sameDeadline.waits.delete(wait);
    if (sameDeadline.waits.size > 0 || byDeadline.get(sameDeadline.key) !== sameDeadline) return;
    clearTimeout(sameDeadline.timer);
    byDeadline.delete(sameDeadline.key);
  }

  return { begin, ended };
}
