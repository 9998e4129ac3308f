import type { Clock } from "../platform/clock.ts";
import type { JobPort } from "../store/job-port.ts";
import { type JobRecord, UNFINISHED } from "../store/job-records.ts";
import { createClearing } from "./clearing.ts";
import { createErasingTries, type TryErasing } from "./erasing-tries.ts";
import type { InputsInReading } from "./inputs-in-reading.ts";
import { jobOf } from "./job.ts";

export type JobEraser = {
  /**
   * Erases a job that never started; false where it did. The store is cleared of it by the pruning. Never rejects: also
   * false where the store fails, and the pruning tries again.
   */
  readonly drop: (jobId: string) => Promise<boolean>;
  /** Erases a job that never started, also from what the store keeps beside its tables; false where it did. */
  readonly dropWholly: (jobId: string) => Promise<boolean>;
  /** Erases what an earlier reading of an input has left, which this process has claimed. */
  readonly clearInput: (jobId: string) => Promise<void>;
  /** Erases the input and the results of a job that has ended. */
  readonly erase: (job: JobRecord, at: number) => Promise<void>;
  /**
   * Erases what is past its retention, and inputs that were never started. Rejects with the first failure once the rest
   * is done.
   */
  readonly prune: () => Promise<void>;
  /**
   * Erases inputs whose receiving process is gone, except uploads in parts. What cannot be erased is left to the next look,
   * and to the pruning where this is the only one.
   */
  readonly dropCutOff: (options?: { readonly isOnlyLook: boolean }) => Promise<void>;
};

export type JobEraserDependencies = {
  readonly store: JobPort;
  readonly clock: Clock;
  /** Erases the parts of an input. */
  readonly dropParts: (jobId: string) => Promise<void>;
  readonly inReading: Pick<InputsInReading, "has" | "jobIds">;
  readonly settings: { readonly uploadMs: number };
};

/** Chunks in one transaction that marks duplicates or erases data, which takes fewer where they are large: some ms. */
export const CHUNKS_PER_TRANSACTION = 32;
const ERASED_PER_RUN = 100;
/** Jobs that are to be dropped by the pruning: some 1 MB. Others are dropped as uploads that nobody starts. */
const UNDROPPED_MAX = 10_000;

/** Erases jobs a few chunks at a time, so that calls do not wait. */
export function createJobEraser(dependencies: JobEraserDependencies): JobEraser {
  const { store, clock, dropParts, inReading, settings } = dependencies;

  async function bySteps(erase: JobPort["eraseChunks"], jobId: string): Promise<void> {
    while (await erase(jobId, CHUNKS_PER_TRANSACTION)) await Bun.sleep(0);
  }

  const dropChunks = (jobId: string): Promise<void> => bySteps(store.eraseChunks, jobId);

  const tries = createErasingTries(clock);
  const { note, clear } = createClearing({ store, clock, pause: (ms) => Bun.sleep(ms) });

  /** False where the job was started: its commit may have succeeded though its answer was lost. */
  async function forget(jobId: string): Promise<boolean> {
    // A deleted job takes no more rows and cannot be started, so nothing is added after the erasing.
    const dropped = await store.changeJob(jobId, ["receiving"], { deletedAt: clock.now() });
    if (dropped === null) return false;
    await dropChunks(jobId);
    await dropParts(jobId);
    await store.forgetJob(jobId);
    note();
    return true;
  }

  /** Jobs that were to be dropped while the store failed. They count among those that their accounts may have. */
  const undropped = new Set<string>();

  async function forgetOrNote(jobId: string): Promise<boolean> {
    try {
      const isDropped = await forget(jobId);
      undropped.delete(jobId);
      return isDropped;
    } catch (error) {
      if (undropped.size < UNDROPPED_MAX) undropped.add(jobId);
      throw error;
    }
  }

  async function dropAgain(tryErasing: TryErasing): Promise<void> {
    for (const jobId of [...undropped].slice(0, ERASED_PER_RUN + tries.passedOver())) {
      await tryErasing(jobId, () => forgetOrNote(jobId));
    }
  }

  async function eraseData(job: JobRecord, at: number): Promise<void> {
    const { jobId, status } = job;
    await dropChunks(jobId);
    // Its start left the removal of its parts to itself.
    if (jobOf(job).options.upload !== undefined) await dropParts(jobId);
    // The names of its columns are of the input.
    await store.changeJob(jobId, [status], { erasedAt: at, inputTable: null });
    note();
  }

  /**
   * Erases inputs that were not started in time, but for those whose start is under way, on any node. So are deleted ones:
   * a process may have ended in the middle of dropping one.
   */
  async function dropLate(now: number, tryErasing: TryErasing): Promise<void> {
    // Those that stay must not keep others from their turn.
    const limit = ERASED_PER_RUN + inReading.jobIds().length + tries.passedOver();
    for (const { jobId, deletedAt } of await store.lateJobs(now - settings.uploadMs, limit)) {
      if (deletedAt !== null || !inReading.has(jobId)) await tryErasing(jobId, () => forget(jobId));
    }
  }

  /** Clears the store of what was erased, also where some of it failed. */
  async function eraseApart(round: (tryErasing: TryErasing) => Promise<void>): Promise<void> {
    try {
      await tries.run(round);
    } finally {
      await clear();
    }
  }

  return {
    // The caller has a failure of its own to report; that of a second try is reported by the pruning.
    drop: (jobId) => forgetOrNote(jobId).catch(() => false),

    async dropWholly(jobId) {
      const isDropped = await forget(jobId);
      await clear();
      return isDropped;
    },

    clearInput: (jobId) => bySteps(store.clearInput, jobId),

    async erase(job, at) {
      await eraseData(job, at);
      await clear();
    },

    async dropCutOff({ isOnlyLook } = { isOnlyLook: false }) {
      // Before another look finds it, an input may be read again: its process was only away from the database.
      const erase = isOnlyLook ? forgetOrNote : forget;
      await eraseApart(async (tryErasing) => {
        // All in one look: what is found later may be an input that a caller of this process sends.
        for (const jobId of await store.cutOffJobs()) await tryErasing(jobId, () => erase(jobId));
      });
    },

    prune: () =>
      eraseApart(async (tryErasing) => {
        const now = clock.now();
        await dropLate(now, tryErasing);
        // Those that are passed over take the places of no others.
        for (const job of await store.jobsToErase(now, ERASED_PER_RUN + tries.passedOver())) {
          if (!UNFINISHED.includes(job.status)) await tryErasing(job.jobId, () => eraseData(job, now));
        }
        // Behind the looks: while the store cannot be read, each of these would wait for it.
        await dropAgain(tryErasing);
      }),
  };
}
