import type { Clock } from "../platform/clock.ts";

/** Erases one job, unless it failed a while ago; never rejects. */
export type TryErasing = (jobId: string, erase: () => Promise<unknown>) => Promise<void>;

export type ErasingTries = {
  /** Runs a round of tries; rejects behind the last with the first failure of the round. */
  readonly run: (round: (tryErasing: TryErasing) => Promise<void>) => Promise<void>;
  /** Jobs that failed and are passed over now. */
  readonly passedOver: () => number;
};

/** A job that failed is passed over for this long: each try may use a database for as long as its deadline. */
const RETRY_MS = 30_000;

/** Erases jobs apart from each other, so that one that cannot be erased holds up none behind it. */
export function createErasingTries({ monotonic }: Pick<Clock, "monotonic">): ErasingTries {
  /** Job → when it is tried again. */
  const failedUntilMs = new Map<string, number>();

  return {
    async run(round) {
      for (const [jobId, untilMs] of failedUntilMs) {
        if (untilMs <= monotonic()) failedUntilMs.delete(jobId);
      }
      const errors: unknown[] = [];
      await round(async (jobId, erase) => {
        if (failedUntilMs.has(jobId)) return;
        try {
          await erase();
        } catch (error) {
          failedUntilMs.set(jobId, monotonic() + RETRY_MS);
          errors.push(error);
        }
      });
      if (errors.length > 0) throw errors[0];
    },
    passedOver: () => failedUntilMs.size,
  };
}
