import type { AdmitPort } from "../store/admit-port.ts";
import { UnsettledError } from "../store/storage-error.ts";

export type SharedClaims = Pick<AdmitPort, "claimKey" | "releaseKey"> & {
  /** Renews the claims of this process, and gives those back whose claim or release was not answered. */
  readonly renew: () => Promise<void>;
};

/** Claims on Idempotency-Keys; a release never fails the call that it ends. */
export function createSharedClaims(dependencies: {
  readonly store: Pick<AdmitPort, "claimKey" | "releaseKey" | "renewClaims">;
}): SharedClaims {
  const { store } = dependencies;
  /** Key → account. */
  const unreleased = new Map<string, string>();

  async function releaseKey(accountId: string, idempotencyKey: string): Promise<void> {
    try {
      await store.releaseKey(accountId, idempotencyKey);
      unreleased.delete(idempotencyKey);
    } catch {
      unreleased.set(idempotencyKey, accountId);
    }
  }

  return {
    claimKey: async (accountId, idempotencyKey, fingerprint) => {
      try {
        const claim = await store.claimKey(accountId, idempotencyKey, fingerprint);
        if (claim.isClaimed) unreleased.delete(idempotencyKey);
        return claim;
      } catch (error) {
        // It may be held now by this process, for no call.
        if (error instanceof UnsettledError) unreleased.set(idempotencyKey, accountId);
        throw error;
      }
    },
    releaseKey,
    renew: async () => {
      for (const [idempotencyKey, accountId] of [...unreleased]) {
        // It may have been claimed for a call meanwhile.
        if (unreleased.has(idempotencyKey)) await releaseKey(accountId, idempotencyKey);
      }
      await store.renewClaims();
    },
  };
}
