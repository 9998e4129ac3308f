import type { Job } from "../job.ts";

/** Holds a place for work that goes on without its callers; throws where no place is left. */
export type Entry = () => Disposable;

export type CsvLengths = {
  /**
   * Returns the bytes of the finished chunks as CSV. Where they are not known, all who ask meanwhile wait for one measuring:
   * it alone enters, and leaves at its end.
   */
  readonly of: (job: Job, enter: Entry | null) => Promise<readonly number[]>;
};

/** Jobs whose CSV lengths are cached, some kilobytes each. */
const MEASURED_JOBS_MAX = 256;

/** Keeps the lengths of CSV chunks of jobs that no longer change. */
export function createCsvLengths(measure: (job: Job) => Promise<readonly number[]>): CsvLengths {
  const known = new Map<string, readonly number[]>();
  /** They are few, as each holds a place. */
  const measuring = new Map<string, Promise<readonly number[]>>();

  function remember(jobId: string, bytes: readonly number[]): readonly number[] {
    known.set(jobId, bytes);
    const [oldest] = known.keys();
    if (known.size > MEASURED_JOBS_MAX && oldest !== undefined) known.delete(oldest);
    return bytes;
  }

  return {
    async of(job, enter) {
      const { jobId } = job;
      const found = known.get(jobId) ?? measuring.get(jobId);
      if (found !== undefined) return found;
      // Callers may leave; the place is held for as long as the rendering goes on.
      const place = enter?.();
      const measured = measure(job)
        .then((bytes) => remember(jobId, bytes))
        .finally(() => {
          measuring.delete(jobId);
          place?.[Symbol.dispose]();
        });
      measuring.set(jobId, measured);
      return measured;
    },
  };
}
