/** Jobs that want to run, by account. */
export type JobQueue = {
  /** Adds a job behind those that its account has already. */
  readonly add: (accountId: string, jobId: string) => void;
  readonly remove: (accountId: string, jobId: string) => void;
  readonly has: (accountId: string, jobId: string) => boolean;
  /**
   * The jobs in the order of their turns, each found when it is asked for; `countTaken` moves an account back. The queue may
   * change meanwhile: a job that is added may come up, one that is removed does not.
   */
  readonly inTurn: () => IteratorObject<{ readonly accountId: string; readonly jobId: string }>;
  /** Counts a chunk that an account was given. */
  readonly countTaken: (accountId: string) => void;
  readonly jobs: () => number;
};

/**
 * Start-time fair queueing of chunks that count the same: an account that is given one is behind all others. A new account
 * is behind those that wait for theirs and before those that had one, so a job of one chunk is next even behind a job of
 * thousands. A turn costs the same however many accounts there are.
 */
export function createJobQueue(): JobQueue {
  /** The jobs of each account that waits for its chunk of this round, in the order of turns. */
  const waiting = new Map<string, string[]>();
  /** Those of the accounts that had one, in the order of turns. */
  const served = new Map<string, string[]>();
  let jobs = 0;

  const jobsOf = (accountId: string) => waiting.get(accountId) ?? served.get(accountId);

  /** An account that had a chunk is given another: what the others are given is of the next round, too. */
  function beginRound(): void {
    for (const [accountId, jobIds] of served) waiting.set(accountId, jobIds);
    served.clear();
  }

  return {
    add(accountId, jobId) {
      const jobIds = jobsOf(accountId) ?? [];
      if (jobIds.includes(jobId)) return;
      if (jobIds.length === 0) waiting.set(accountId, jobIds);
      jobIds.push(jobId);
      jobs += 1;
    },
    remove(accountId, jobId) {
      const jobIds = jobsOf(accountId);
      const at = jobIds?.indexOf(jobId) ?? -1;
      if (jobIds === undefined || at === -1) return;
      jobIds.splice(at, 1);
      jobs -= 1;
      if (jobIds.length > 0) return;
      waiting.delete(accountId);
      served.delete(accountId);
    },
    has: (accountId, jobId) => jobsOf(accountId)?.includes(jobId) ?? false,
    *inTurn() {
      for (const accounts of [waiting, served]) {
        for (const [accountId, jobIds] of accounts) {
          for (const jobId of [...jobIds]) if (jobIds.includes(jobId)) yield { accountId, jobId };
        }
      }
    },
    countTaken(accountId) {
      const jobIds = jobsOf(accountId);
      if (jobIds === undefined) return;
      if (served.has(accountId)) beginRound();
      waiting.delete(accountId);
      served.set(accountId, jobIds);
    },
    jobs: () => jobs,
  };
}
