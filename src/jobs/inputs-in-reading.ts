/** The jobs whose input this process reads, or which it starts: they are not erased as uploads that nobody starts. */
export type InputsInReading = {
  /** Holds a job for as long as the work takes; a job may be held several times. */
  readonly hold: <Result>(jobId: string, work: () => Promise<Result>) => Promise<Result>;
  readonly has: (jobId: string) => boolean;
  readonly jobIds: () => readonly string[];
};

export function createInputsInReading(): InputsInReading {
  const held = new Map<string, number>();
  return {
    async hold(jobId, work) {
      held.set(jobId, (held.get(jobId) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (held.get(jobId) ?? 0) - 1;
        if (left > 0) held.set(jobId, left);
        else held.delete(jobId);
      }
    },
    has: (jobId) => held.has(jobId),
    jobIds: () => [...held.keys()],
  };
}
