import type { AdmitPort } from "../store/admit-port.ts";
import { UnsettledError } from "../store/storage-error.ts";

export type SharedClaims = Pick<AdmitPort, "claimKey" | "releaseKey"> & {
  /** Renews the claims of this process, and gives those back whose claim or release was not answered. */
  readonly renew: () => Promise<void>;
};

type Release = { readonly accountId: string; isSent: boolean };

/** Claims on Idempotency-Keys; a release never fails the call that it ends. */
export function createSharedClaims(dependencies: {
  readonly store: Pick<AdmitPort, "claimKey" | "releaseKey" | "renewClaims">;
}): SharedClaims {
  const { store } = dependencies;
  /** Releases by key, from when they are sent until they are answered, or a call has claimed the key. */
  const releases = new Map<string, Release>();

  async function releaseKey(accountId: string, idempotencyKey: string): Promise<void> {
    const release: Release = { accountId, isSent: true };
    releases.set(idempotencyKey, release);
    try {
      await store.releaseKey(accountId, idempotencyKey);
      if (releases.get(idempotencyKey) === release) releases.delete(idempotencyKey);
    } catch {
      release.isSent = false;
    }
  }

  return {
    claimKey: async (accountId, idempotencyKey, fingerprint) => {
      try {
        const claim = await store.claimKey(accountId, idempotencyKey, fingerprint);
        if (claim.isClaimed) releases.delete(idempotencyKey);
        return claim;
      } catch (error) {
        // It may be held now by this process, for no call.
        if (error instanceof UnsettledError) releases.set(idempotencyKey, { accountId, isSent: false });
        throw error;
      }
    },
    releaseKey,
    renew: async () => {
      // First, as they run out: to release many keys one by one takes long.
      await store.renewClaims();
      for (const [idempotencyKey, release] of [...releases]) {
        // It may have been claimed for a call meanwhile.
        if (release.isSent || releases.get(idempotencyKey) !== release) continue;
        await releaseKey(release.accountId, idempotencyKey);
      }
    },
  };
}
