import type { JobRecord } from "../../store/job-records.ts";
import type { Pace } from "../pace.ts";

/** What breaks off the chunks in work of a job that its caller has deleted. */
export type ChunkStops = {
  /** Returns the signal of a job's chunks, which aborts once the job is given up, or all jobs are. */
  readonly signalOf: (jobId: string) => AbortSignal;
  /** To be called with the work on a chunk, which never rejects. */
  readonly track: (jobId: string, work: Promise<void>) => void;
  /** Aborts the work on the chunks of a job, and resolves once it has ended. */
  readonly giveUp: (jobId: string) => Promise<void>;
  /** To be called with all jobs that have not ended. */
  readonly seen: (jobs: readonly Pick<JobRecord, "jobId">[]) => void;
  readonly giveUpAll: () => void;
};

type Stop = { readonly controller: AbortController; readonly work: Set<Promise<void>> };

/**
 * Holds a signal for each job that has not ended: what is looked up for one chunk serves the next ones too. While it waits
 * for a chunk no thread rests, as a thread ends what it has begun.
 */
export function createChunkStops(pace: Pick<Pace, "hurry"> | null): ChunkStops {
  const stops = new Map<string, Stop>();
  let areAllGivenUp = false;

  function stopOf(jobId: string): Stop {
    const known = stops.get(jobId);
    if (known !== undefined) return known;
    const made = { controller: new AbortController(), work: new Set<Promise<void>>() };
    stops.set(jobId, made);
    // A chunk may be claimed while the process ends.
    if (areAllGivenUp) made.controller.abort();
    return made;
  }

  return {
    signalOf: (jobId) => stopOf(jobId).controller.signal,
    track(jobId, work) {
      const { work: all } = stopOf(jobId);
      all.add(work);
      void work.finally(() => all.delete(work));
    },
    async giveUp(jobId) {
      const { controller, work } = stopOf(jobId);
      controller.abort();
      using _hurried = pace?.hurry();
      await Promise.all(work);
    },
    seen(jobs) {
      const unfinished = new Set(jobs.map(({ jobId }) => jobId));
      for (const [jobId, { work }] of stops) {
        if (work.size === 0 && !unfinished.has(jobId)) stops.delete(jobId);
      }
    },
    giveUpAll() {
      areAllGivenUp = true;
      for (const { controller } of stops.values()) controller.abort();
    },
  };
}
