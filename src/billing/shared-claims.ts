import type { AdmitPort } from "../store/admit-port.ts";

export type SharedClaims = Pick<AdmitPort, "claimKey" | "releaseKey"> & {
  /** Renews the claims of this process, and gives those back whose release did not reach the store. */
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
    claimKey: store.claimKey,
    releaseKey,
    renew: async () => {
      for (const [idempotencyKey, accountId] of [...unreleased]) await releaseKey(accountId, idempotencyKey);
      await store.renewClaims();
    },
  };
}
