/** Jobs that want to run, by account. */
export type JobQueue = {
  /** Adds a job behind those that its account has already. */
  readonly add: (accountId: string, jobId: string) => void;
  readonly remove: (accountId: string, jobId: string) => void;
  /** The jobs whose turn it is, best first. A turn is taken by `took`. */
  readonly inTurn: () => readonly { readonly accountId: string; readonly jobId: string }[];
  /** Counts a chunk as taken by an account. */
  readonly took: (accountId: string) => void;
  readonly jobs: () => number;
};

type Turn = { readonly jobIds: string[]; tag: number };

/**
 * Start-time fair queueing: each chunk that an account takes puts its next one further back, and an account that comes
 * anew begins where the others are. A job of one chunk behind one of thousands is therefore next.
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
    inTurn: () =>
      [...accounts]
        .sort(([, a], [, b]) => a.tag - b.tag)
        .flatMap(([accountId, { jobIds }]) => jobIds.map((jobId) => ({ accountId, jobId }))),
    took(accountId) {
      const turn = accounts.get(accountId);
      if (turn === undefined) return;
      virtualTime = Math.max(virtualTime, turn.tag);
      turn.tag = Math.max(turn.tag, virtualTime) + 1;
    },
    jobs: () => [...accounts.values()].reduce((sum, { jobIds }) => sum + jobIds.length, 0),
  };
}
