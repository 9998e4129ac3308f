import type { ChunkClaim, JobPort } from "../store/job-port.ts";

/** The chunks that this process has claimed, and has not put back yet. */
export type ChunkClaims = {
  readonly add: (claim: ChunkClaim) => void;
  readonly delete: (claim: ChunkClaim) => void;
  /** Puts a chunk back; where the store does not take that, `releaseAll` tries it again. */
  readonly release: (claim: ChunkClaim, attempts: number) => Promise<void>;
  readonly releaseAll: () => Promise<void>;
  readonly held: () => readonly ChunkClaim[];
};

export function createChunkClaims(store: Pick<JobPort, "releaseChunk">): ChunkClaims {
  const claims = new Set<ChunkClaim>();
  const unreleased = new Map<string, { readonly claim: ChunkClaim; readonly attempts: number }>();

  /** None is released twice at a time: its chunk may have been claimed again meanwhile. */
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
