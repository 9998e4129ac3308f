import type { Clock } from "../platform/clock.ts";
import { createTally } from "../platform/tally.ts";

export type DeliverySharesSettings = {
  readonly inFlightMax: number;
  /** All attempts as a multiple of it: those beyond it are each their account's only one, as receivers of others may hang. */
  readonly overflow: number;
  /** Attempts of one account at a time, so that receivers that hang delay nobody else. */
  readonly accountInFlightMax: number;
};

/** Shares the attempts under way among accounts. */
export type DeliveryShares = {
  /** Returns the accounts that may have no further attempt now, or null where nobody may. */
  readonly full: () => readonly string[] | null;
  /** Counts an attempt, and returns what ends it. */
  readonly begin: (accountId: string) => () => void;
};

/** An attempt that takes this long holds a place that others wait for, whatever its answer is. */
const SLOW_MS = 5_000;
/** How long an account counts as slow behind such an attempt: its first three retries fall into it. */
const SLOW_FOR_MS = 3_600_000;
/** Slow accounts that are remembered, the last ones. */
const SLOW_ACCOUNTS_MAX = 1_024;

/**
 * Slow accounts have one attempt each and half of all together: accounts whose receivers answer are served however many
 * receivers hang.
 */
export function createDeliveryShares(
  { inFlightMax, overflow, accountInFlightMax }: DeliverySharesSettings,
  { monotonic }: Pick<Clock, "monotonic">,
): DeliveryShares {
  const attemptsMax = Math.floor(inFlightMax * overflow);
  const slowMax = Math.floor(attemptsMax / 2);
  const inFlight = createTally();
  /** Until when an account counts as slow; the next to end comes first. */
  const slow = new Map<string, number>();

  function remember(accountId: string): void {
    slow.delete(accountId);
    slow.set(accountId, monotonic() + SLOW_FOR_MS);
    const [first] = slow.keys();
    if (slow.size > SLOW_ACCOUNTS_MAX && first !== undefined) slow.delete(first);
  }

  function forget(): void {
    for (const [accountId, until] of slow) {
      if (until > monotonic()) return;
      slow.delete(accountId);
    }
  }

  return {
    full() {
      forget();
      const counts = [...inFlight.entries()];
      const sumOf = (some: typeof counts) => some.reduce((sum, [, count]) => sum + count, 0);
      const slowCount = sumOf(counts.filter(([accountId]) => slow.has(accountId)));
      const quickCount = sumOf(counts) - slowCount;
      if (quickCount + slowCount >= attemptsMax) return null;
      const quickMax = quickCount < inFlightMax ? accountInFlightMax : 1;
      const full = counts
        .filter(([accountId, count]) => count >= (slow.has(accountId) ? 1 : quickMax))
        .map(([accountId]) => accountId);
      return slowCount < slowMax ? full : [...new Set([...full, ...slow.keys()])];
    },

    begin(accountId) {
      const startedAt = monotonic();
      inFlight.add(accountId, 1);
      return () => {
        inFlight.add(accountId, -1);
        if (monotonic() - startedAt >= SLOW_MS) remember(accountId);
      };
    },
  };
}
