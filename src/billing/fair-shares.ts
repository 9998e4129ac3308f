/** A bounded store that accounts share. */
export type FairShares = {
  /** Takes room for an account. False, and nothing taken, where its share or the whole has none. */
  readonly take: (accountId: string, amount: number) => boolean;
  /** Takes room whether there is any or not: for what is there already. */
  readonly count: (accountId: string, amount: number) => void;
  readonly release: (accountId: string, amount: number) => void;
  readonly used: () => number;
};

/**
 * Shares `capacity` among accounts without a list of who might come: an account may hold `ratio` times what is free.
 * One alone gets ratio / (1 + ratio) of all, n that want all get equal parts, and 1 / (1 + n · ratio) is always left
 * for the next (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998).
 */
export function createFairShares(options: { readonly capacity: number; readonly ratio: number }): FairShares {
  const { capacity, ratio } = options;
  const held = new Map<string, number>();
  let total = 0;

  function count(accountId: string, amount: number): void {
    total += amount;
    held.set(accountId, (held.get(accountId) ?? 0) + amount);
  }

  return {
    take: (accountId, amount) => {
      const free = capacity - total - amount;
      if (free < 0 || (held.get(accountId) ?? 0) + amount > ratio * free) return false;
      count(accountId, amount);
      return true;
    },
    count,
    release: (accountId, amount) => {
      const known = held.get(accountId) ?? 0;
      const released = Math.min(known, amount);
      total -= released;
      if (released < known) held.set(accountId, known - released);
      else held.delete(accountId);
    },
    used: () => total,
  };
}
