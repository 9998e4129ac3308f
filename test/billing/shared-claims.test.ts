import { expect, test } from "bun:test";
import { createSharedClaims } from "../../src/billing/shared-claims.ts";
import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";

/** Claims by key, on a store whose answers are lost while `lost` says so. */
function openClaims() {
  const held = new Set<string>();
  const state = { lost: null as Error | null };
  const answered = <T>(answer: T): T => {
    if (state.lost !== null) throw state.lost;
    return answer;
  };
  const claims = createSharedClaims({
    store: {
      claimKey: async (_, key, fingerprint) => {
        const isClaimed = !held.has(key);
        if (!(state.lost instanceof StorageError)) held.add(key);
        return answered(isClaimed ? { isClaimed } : { isClaimed, fingerprint });
      },
      releaseKey: async (_, key) => {
        if (state.lost === null) held.delete(key);
        return answered(undefined);
      },
      renewClaims: async () => answered(undefined),
    },
  });
  return { claims, held, state };
}

test("a claim whose commit was not answered is released, as no call holds it", async () => {
  const { claims, held, state } = openClaims();
  state.lost = new UnsettledError("the commit was not answered");
  await expect(claims.claimKey("acc_a", "key", "print")).rejects.toBe(state.lost);
  state.lost = null;
  expect(await claims.claimKey("acc_a", "key", "print")).toMatchObject({ isClaimed: false });
  await claims.renew();
  expect(held.size).toBe(0);
  expect(await claims.claimKey("acc_a", "key", "print")).toEqual({ isClaimed: true });
  // The call that holds it now keeps it.
  await claims.renew();
  expect([...held]).toEqual(["key"]);
});

test("a failed release is repeated, unless a call has claimed the key by then", async () => {
  const { claims, held, state } = openClaims();
  await claims.claimKey("acc_a", "one", "print");
  await claims.claimKey("acc_a", "two", "print");
  state.lost = new StorageError("away");
  await claims.releaseKey("acc_a", "one");
  await claims.releaseKey("acc_a", "two");
  state.lost = null;
  // Its lease ended, and another call of this process took the key.
  held.delete("two");
  expect(await claims.claimKey("acc_a", "two", "print")).toEqual({ isClaimed: true });
  await claims.renew();
  expect([...held]).toEqual(["two"]);
});

test("claims of running calls are renewed before keys that are left over are released", async () => {
  const asked: string[] = [];
  const claims = createSharedClaims({
    store: {
      claimKey: async () => ({ isClaimed: true }),
      releaseKey: async (_, key) => {
        asked.push(key);
        throw new StorageError("away");
      },
      renewClaims: async () => void asked.push("renewed"),
    },
  });
  await claims.releaseKey("acc_a", "key");
  await claims.renew();
  expect(asked).toEqual(["key", "renewed", "key"]);
});

test("a release whose answer is lost after a call has claimed the key anew is not repeated", async () => {
  const answer = Promise.withResolvers<void>();
  const released: string[] = [];
  const claims = createSharedClaims({
    store: {
      claimKey: async () => ({ isClaimed: true }),
      releaseKey: (_, key) => {
        released.push(key);
        return answer.promise;
      },
      renewClaims: async () => undefined,
    },
  });
  const releasing = claims.releaseKey("acc_a", "key");
  await claims.claimKey("acc_a", "key", "print");
  answer.reject(new UnsettledError("the commit was not answered"));
  await releasing;
  await claims.renew();
  expect(released).toEqual(["key"]);
});
