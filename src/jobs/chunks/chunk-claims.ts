import type { JobPort } from "../../store/job-port.ts";
import type { ChunkClaim } from "../../store/job-records.ts";

/** The chunks that this process has claimed and not yet released. */
export type ChunkClaims = {
  readonly add: (claim: ChunkClaim) => void;
  readonly delete: (claim: ChunkClaim) => void;
  /** Releases a chunk; where the store fails, `releaseAll` tries again. */
  readonly release: (claim: ChunkClaim, attempts: number) => Promise<void>;
  readonly releaseAll: () => Promise<void>;
  readonly held: () => readonly ChunkClaim[];
};

export function createChunkClaims(store: Pick<JobPort, "releaseChunk">): ChunkClaims {
  const claims = new Set<ChunkClaim>();
  const unreleased = new Map<string, { readonly claim: ChunkClaim; readonly attempts: number }>();

  /** Releases each chunk once at a time: after the first release it may have been claimed again. */
  async function releaseAll(): Promise<void> {
    for (const [key, held] of [...unreleased]) {
      if (!unreleased.delete(key)) continue;
      try {
        await store.releaseChunk(held.claim, held.attempts);
      } catch (error) {
        unreleased.set(key, held);
        throw error;
      }
    }
  }

  return {
    add: (claim) => void claims.add(claim),
    delete: (claim) => void claims.delete(claim),
    release(claim, attempts) {
      unreleased.set(`${claim.jobId} ${claim.n}`, { claim, attempts });
      return releaseAll();
    },
    releaseAll,
    held: () => [...claims, ...Array.from(unreleased.values(), ({ claim }) => claim)],
  };
}
