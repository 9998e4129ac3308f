import type { GatherFacts } from "../../batch/gather-facts.ts";
import type { SharedFacts } from "../../batch/messages.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Job } from "../job.ts";
import type { NumberedChunk } from "./domain-numberings.ts";

/** Chunks of a job that share the facts of their domains, as the chunks of a batch do. */
export type ChunkGroup = {
  /** The name of the numbering by which threads number the domains. */
  readonly name: string;
  /**
   * Starts the look-ups of a chunk's domains; null for items without domains. Must be called for every chunk that a
   * thread has opened under this name, in the order of arrival.
   */
  readonly find: (opened: NumberedChunk) => Promise<SharedFacts> | null;
};

export type ChunkFacts = {
  /** The group of the chunk that is opened next. */
  readonly groupOf: (job: Job, signal: AbortSignal) => ChunkGroup;
  /** Returns when the failed look-ups of a job's domains have expired, on the monotonic clock; 0 where none failed. */
  readonly failuresExpireMs: (jobId: string) => number;
};

/** The lifetime of a group: facts that expire are used for at most this much longer. */
const GROUP_MS = 5_000;

/**
 * Holds one group for each job of which a chunk was opened in the last 5 s, and a number for each one with failures that
 * have not expired.
 */
export function createChunkFacts(dependencies: {
  readonly gatherFacts: GatherFacts;
  readonly clock: Pick<Clock, "monotonic">;
  readonly lookupTimeoutMs: number;
  /** A failure that lasts longer, as a denial that is not believed, counts for this long. */
  readonly failureMaxMs: number;
}): ChunkFacts {
  const { gatherFacts, clock, lookupTimeoutMs, failureMaxMs } = dependencies;
  const groups = new Map<string, { readonly group: ChunkGroup; readonly endsMs: number }>();
  const failuresEndMs = new Map<string, number>();
  let begun = 0;

  function countFailure(jobId: string, expiresAtMs: number): void {
    const endMs = Math.min(expiresAtMs, clock.monotonic() + failureMaxMs);
    failuresEndMs.set(jobId, Math.max(failuresEndMs.get(jobId) ?? 0, endMs));
  }

  function forgetExpired(): void {
    const now = clock.monotonic();
    for (const [key, { endsMs }] of groups) if (endsMs <= now) groups.delete(key);
    for (const [jobId, endMs] of failuresEndMs) if (endMs <= now) failuresEndMs.delete(jobId);
  }

  function createGroup({ accountId, jobId, options }: Job, signal: AbortSignal): ChunkGroup {
    begun += 1;
    const { deep, dns } = options;
    const deadlineMs = () => clock.monotonic() + lookupTimeoutMs;
    const onFailure = (expiresAtMs: number) => countFailure(jobId, expiresAtMs);
    const numberings = new Map<string, { readonly factsOf: ReturnType<GatherFacts>; domains: number }>();
    return {
      name: `${jobId} ${begun}`,
      find({ chunk: { newDomains, domainNumbers }, place }) {
        if (domainNumbers === null) return null;
        const numbering = numberings.get(place.id) ?? {
          factsOf: gatherFacts({ deep, dns, deadlineMs, tenant: accountId, signal, onFailure }),
          domains: 0,
        };
        numberings.set(place.id, numbering);
        if (place.domainsBefore !== numbering.domains)
          throw new Error("domains of a job were numbered twice");
        numbering.domains += newDomains === "" ? 0 : newDomains.split("\n").length;
        return numbering.factsOf({ newDomains, domainNumbers, deadlineMs: deadlineMs() });
      },
    };
  }

  return {
    groupOf(job, signal) {
      forgetExpired();
      // The second round looks up again what failed in the first.
      const key = `${job.jobId} ${job.round}`;
      const known = groups.get(key)?.group;
      if (known !== undefined) return known;
      const group = createGroup(job, signal);
      groups.set(key, { group, endsMs: clock.monotonic() + GROUP_MS });
      return group;
    },
    failuresExpireMs: (jobId) => failuresEndMs.get(jobId) ?? 0,
  };
}
