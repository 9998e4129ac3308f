import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import { WORK_MS_MAX } from "../platform/steps.ts";
import type { JobPort } from "../store/job-port.ts";
import type { ClaimedWork, JobInState } from "../store/job-records.ts";
import type { Upkeep } from "../store/port.ts";
import type { ChunkClaims } from "./chunks/chunk-claims.ts";
import type { ChunkPlaces } from "./chunks/chunk-places.ts";
import type { ChunkStops } from "./chunks/chunk-stops.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { JobGaps } from "./job-gaps.ts";
import type { JobQueue } from "./job-queue.ts";
import type { JobSteps } from "./job-steps.ts";
import type { JobUnits } from "./job-units.ts";
import type { JobWaits } from "./job-waits.ts";

export type JobReconciliationDependencies = {
  readonly store: Pick<JobPort, "jobsIn" | "findJob"> & Pick<Upkeep, "probe">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly queue: Pick<JobQueue, "add">;
  readonly claims: Pick<ChunkClaims, "releaseAll">;
  readonly places: Pick<ChunkPlaces, "isLeftFor">;
  readonly waits: JobWaits;
  readonly gaps: JobGaps;
  readonly stops: Pick<ChunkStops, "giveUp" | "seen">;
  readonly steps: Pick<JobSteps, "resume">;
  readonly room: Pick<DiskRoom, "isBack">;
  readonly units: Pick<JobUnits, "seen" | "areBack">;
  /** Called with the jobs that have not ended. */
  readonly seen: (jobs: readonly JobInState[]) => void;
  readonly isEnding: () => boolean;
  /** Works on a claimed chunk of a paused job. */
  readonly work: (claimed: ClaimedWork) => void;
  /** Finishes the round of a job that has no chunk in work. */
  readonly finishIdle: (jobId: string) => Promise<void>;
};

/**
 * Returns a function that brings the queue in line with the store: it queues the jobs that can run, those of other
 * processes included, resumes paused jobs whose units or disk space are back, and ends cancelled ones.
 */
export function createJobReconciliation(dependencies: JobReconciliationDependencies): () => Promise<void> {
  const { store, clock, queue, claims, places, waits, gaps, stops, steps, room, units } = dependencies;
  const { seen, isEnding, work, finishIdle } = dependencies;

  /** Works on the chunks of a paused job that precede finished ones, within the places for chunks in work. */
  async function closeGaps(job: JobInState): Promise<void> {
    while (!isEnding() && places.isLeftFor(job.accountId)) {
      const claimed = await gaps.claim(job);
      if (claimed === null) return;
      work(claimed);
    }
  }

  /** Resumes a paused job where what it lacks is back. Without units no gap of it can be closed. */
  async function continuePaused(job: JobInState): Promise<void> {
    if (job.statusReason === "out_of_units") {
      if (await units.areBack(job)) await resume(job);
    } else if (job.statusReason === "storage" && (await room.isBack())) {
      await store.probe();
      await resume(job);
    } else await closeGaps(job);
  }

  /** Resumes a paused job, but one that its caller has paused since it was listed. */
  async function resume(job: JobInState): Promise<void> {
    const current = await store.findJob(job.jobId);
    if (current?.statusReason === job.statusReason) await steps.resume(job);
  }

  async function settle(job: JobInState): Promise<void> {
    // Another process may have deleted it.
    if (job.deletedAt !== null) void stops.giveUp(job.jobId);
    if (job.status === "cancelling") await finishIdle(job.jobId);
    else if (waits.isKeptOut(job.jobId)) return;
    else if (job.status !== "paused") queue.add(job.accountId, job.jobId);
    else await continuePaused(job);
  }

  return async () => {
    await claims.releaseAll();
    const jobs = await store.jobsIn(["paused", "queued", "running", "cancelling"]);
    seen(jobs);
    waits.seen(jobs);
    gaps.seen(jobs);
    stops.seen(jobs);
    units.seen(jobs);
    let begunMs = clock.monotonic();
    for (const job of jobs) {
      if (clock.monotonic() - begunMs >= WORK_MS_MAX) {
        await nextTurn();
        begunMs = clock.monotonic();
      }
      if (isEnding()) return;
      await settle(job);
    }
  };
}
