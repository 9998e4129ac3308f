/** Jobs that want to run, by account. */
export type JobQueue = {
  /** Adds a job behind those that its account has already. */
  readonly add: (accountId: string, jobId: string) => void;
  readonly remove: (accountId: string, jobId: string) => void;
  readonly has: (accountId: string, jobId: string) => boolean;
  /** The jobs in the order of their turns; `countTaken` moves an account back. */
  readonly inTurn: () => readonly { readonly accountId: string; readonly jobId: string }[];
  /** Counts a chunk that an account was given. */
  readonly countTaken: (accountId: string) => void;
  readonly jobs: () => number;
};

type Turn = { readonly jobIds: string[]; tag: number };

/**
 * Start-time fair queueing: each chunk that an account is given raises its tag, and the account with the lowest tag is
 * next. A new account starts at the tag of the others, so a job of one chunk is next even behind a job of thousands.
 */
export function createJobQueue(): JobQueue {
  const accounts = new Map<string, Turn>();
  let virtualTime = 0;

  return {
    add(accountId, jobId) {
      const turn = accounts.get(accountId) ?? { jobIds: [], tag: virtualTime };
      if (!turn.jobIds.includes(jobId)) turn.jobIds.push(jobId);
      accounts.set(accountId, turn);
    },
    remove(accountId, jobId) {
      const turn = accounts.get(accountId);
      if (turn === undefined) return;
      const at = turn.jobIds.indexOf(jobId);
      if (at !== -1) turn.jobIds.splice(at, 1);
      if (turn.jobIds.length === 0) accounts.delete(accountId);
    },
    has: (accountId, jobId) => accounts.get(accountId)?.jobIds.includes(jobId) ?? false,
    inTurn: () =>
      [...accounts]
        .sort(([, a], [, b]) => a.tag - b.tag)
        .flatMap(([accountId, { jobIds }]) => jobIds.map((jobId) => ({ accountId, jobId }))),
    countTaken(accountId) {
      const turn = accounts.get(accountId);
      if (turn === undefined) return;
      virtualTime = Math.max(virtualTime, turn.tag);
      turn.tag = Math.max(turn.tag, virtualTime) + 1;
    },
    jobs: () => [...accounts.values()].reduce((sum, { jobIds }) => sum + jobIds.length, 0),
  };
}
