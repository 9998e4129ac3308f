import { ApiError } from "../contract/errors.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import { commandNamed } from "../platform/command-name.ts";
import { DAY_MS, dayOf } from "../platform/days.ts";
import type { OperatorPort } from "../store/operator-port.ts";
import type { EmbeddedStore } from "../store/port.ts";
import { secondOf } from "./period.ts";

/** A difference between the clock and the last time on disk that is too large to be trusted. */
export type ClockDoubt = {
  readonly daysAhead: number;
  /** A sentence for the operator. */
  readonly sentence: string;
};

/** The clock of months. A jump of more than 35 days counts only once an operator has confirmed it. */
export type BillingClock = Clock & {
  /** Null while the clock is trusted. In doubt, `now` stays at the last trusted time. */
  readonly doubt: () => ClockDoubt | null;
  /** Returns `now`. Throws an ApiError `storage_unavailable` in doubt, as the month might be wrong. */
  readonly requireTrust: () => number;
  /** Writes the time to disk if the stored one is older than `everyMs`. */
  readonly keep: (everyMs: number) => void;
  /** Returns the time that the caller must write to disk if the stored one is older than `everyMs`; else null. */
  readonly timeToKeep: (everyMs: number) => number | null;
  /** Days by which the clock is behind the stored time; 0 where it is not. */
  readonly daysBehind: () => number;
};

const AHEAD_MAX_MS = 35 * DAY_MS;
/** How long a doubt lasts before the operator's confirmation is read again. */
const LOOK_AGAIN_MS = 500;

/**
 * Compares the machine's clock with the last time on disk, and with the time that an operator confirmed last
 * (`confirmClock`), which a running server sees within a second. A clock that is set back is trusted, as nothing returns
 * to an earlier month.
 */
export function createBillingClock(dependencies: {
  store: Pick<EmbeddedStore, "findKeptClock" | "keepClock">;
  clock: Clock;
}): BillingClock {
  const { store, clock } = dependencies;
  const found = store.findKeptClock();
  let keptAt = found?.keptAt ?? Number.NEGATIVE_INFINITY;
  let limitAt = found === null ? Number.POSITIVE_INFINITY : limitOf(keptAt, found.confirmedAt);
  /** The latest trusted time. */
  let trustedAt = found?.keptAt ?? clock.now();
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  function isTrusted(now: number): boolean {
    if (now <= limitAt) return true;
    const nowMs = clock.monotonic();
    if (nowMs - lookedAtMs < LOOK_AGAIN_MS) return false;
    lookedAtMs = nowMs;
    limitAt = limitOf(keptAt, store.findKeptClock()?.confirmedAt ?? null);
    return now <= limitAt;
  }

  function believed(now: number): number {
    if (now > trustedAt) trustedAt = now;
    return now;
  }

  function believedNow(): number {
    const now = clock.now();
    return isTrusted(now) ? believed(now) : trustedAt;
  }

  const doubt = (): ClockDoubt | null => {
    const now = clock.now();
    if (isTrusted(now)) return null;
    const daysAhead = Math.floor((now - keptAt) / DAY_MS);
    const sentence = `The clock shows ${dayOf(now)}, ${daysAhead} days past the last time that was kept (${secondOf(keptAt)}): nothing is charged or invoiced until an operator sets the clock right, or confirms it with: ${commandNamed("admin")} confirm-clock`;
    return { daysAhead, sentence };
  };

  function timeToKeep(everyMs: number): number | null {
    const now = clock.now();
    if (now - keptAt < everyMs || !isTrusted(now)) return null;
    // If the caller's transaction rolls back, the disk holds an older time, which is safe.
    keptAt = Math.floor(now);
    limitAt = limitOf(keptAt, store.findKeptClock()?.confirmedAt ?? null);
    return keptAt;
  }

  const billingClock: BillingClock = {
    monotonic: clock.monotonic,
    now: believedNow,
    doubt,
    requireTrust: () => {
      const now = clock.now();
      if (isTrusted(now)) return believed(now);
      const message =
        "The clock of the server is in doubt: nothing is charged until its operator confirms it.";
      throw new ApiError("storage_unavailable", message, { retryAfterSeconds: 60 });
    },
    keep: (everyMs) => {
      const at = timeToKeep(everyMs);
      if (at !== null) store.keepClock(at);
    },
    timeToKeep,
    daysBehind: () => Math.max(0, Math.floor((keptAt - clock.now()) / DAY_MS)),
  };
  if (found === null) billingClock.keep(0);
  return billingClock;
}

/**
 * Confirms that the clock is right at `now`; months that are over by it are then invoiced. Writes one row, which a running
 * server sees within a second.
 */
export function confirmClock(
  store: Pick<EmbeddedStore, "findKeptClock" | "keepClock" | "confirmClock">,
  now: number,
): void;
export function confirmClock(
  store: Pick<OperatorPort, "findKeptClock" | "keepClock" | "confirmClock">,
  now: number,
): Answer<void>;
export function confirmClock(
  store: Pick<OperatorPort, "findKeptClock" | "keepClock" | "confirmClock">,
  now: number,
): Answer<void> {
  const at = Math.floor(now);
  const kept = after(store.findKeptClock(), (known) => (known === null ? store.keepClock(at) : undefined));
  return after(kept, () => store.confirmClock(at));
}

function limitOf(keptAt: number, confirmedAt: number | null): number {
  return Math.max(keptAt, confirmedAt ?? keptAt) + AHEAD_MAX_MS;
}
