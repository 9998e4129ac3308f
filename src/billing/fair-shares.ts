/** A capacity that accounts share. */
export type FairShares = {
  /** Acquires an amount for an account. False, and nothing acquired, where its share or the capacity is exceeded. */
  readonly take: (accountId: string, amount: number) => boolean;
  /** Counts an amount that exists already, whatever the limits. */
  readonly count: (accountId: string, amount: number) => void;
  readonly release: (accountId: string, amount: number) => void;
  /** Forgets all that was counted. */
  readonly clear: () => void;
  readonly used: () => number;
};

/** The part of the capacity that guaranteed amounts may take beyond it, together. */
const GUARANTEED_PART = 0.25;

/**
 * Shares `capacity` among accounts that are not known in advance by dynamic thresholds (Choudhury and Hahne, IEEE/ACM
 * Transactions on Networking 6, 1998): an account may hold `ratio` times what is free. One alone gets
 * ratio / (1 + ratio) of the capacity, n greedy ones get equal parts, and 1 / (1 + n · ratio) stays free for the next. As
 * long holds leave little to later accounts, each may hold `guaranteed` on top, until all hold a quarter more.
 */
export function createFairShares(options: {
  readonly capacity: number;
  readonly ratio: number;
  readonly guaranteed: number;
}): FairShares {
  const { capacity, ratio, guaranteed } = options;
  const totalMax = capacity * (1 + GUARANTEED_PART);
  const held = new Map<string, number>();
  let total = 0;

  function count(accountId: string, amount: number): void {
    total += amount;
    held.set(accountId, (held.get(accountId) ?? 0) + amount);
  }

  return {
    take: (accountId, amount) => {
      const after = (held.get(accountId) ?? 0) + amount;
      const free = capacity - total - amount;
      const isWithinShare = free >= 0 && after <= ratio * free;
      const isGuaranteed = after <= guaranteed && total + amount <= totalMax;
      if (isWithinShare || isGuaranteed) count(accountId, amount);
      return isWithinShare || isGuaranteed;
    },
    count,
    release: (accountId, amount) => {
      const known = held.get(accountId) ?? 0;
      const released = Math.min(known, amount);
      total -= released;
      if (released < known) held.set(accountId, known - released);
      else held.delete(accountId);
    },
    clear: () => {
      held.clear();
      total = 0;
    },
    used: () => total,
  };
}
