import { setImmediate as nextTurn } from "node:timers/promises";
import type { JobPlace, OperatorPort } from "../store/operator-port.ts";
import type { Upkeep } from "../store/port.ts";
import { isStorageFailure } from "../store/storage-error.ts";

type ClearingStore = Pick<OperatorPort, "accountsToClear" | "clearErasedKeys" | "clearErasedJobs"> &
  Pick<Upkeep, "isOpen">;

/** Keys or jobs of one transaction: some milliseconds. */
const AT_ONCE_MAX = 100;

/** Clears what the erasure of an account leaves. What the store cannot do now is left to `clearErased`. */
export async function clearErasedAccount(store: ClearingStore, accountId: string): Promise<void> {
  try {
    await inSteps(store, accountId);
  } catch (error) {
    if (!isStorageFailure(error)) throw error;
  }
}

/** Ends all erasures that are under way, those included that begin meanwhile. */
export async function clearErased(store: ClearingStore): Promise<void> {
  while (store.isOpen()) {
    const accountIds = await store.accountsToClear();
    if (accountIds.length === 0) return;
    for (const accountId of accountIds) await inSteps(store, accountId);
  }
}

/** In steps between which calls go on: an account may have a million jobs. The last of them ends the erasure. */
async function inSteps(store: ClearingStore, accountId: string): Promise<void> {
  while (store.isOpen() && (await store.clearErasedKeys(accountId, AT_ONCE_MAX)) === AT_ONCE_MAX)
    await nextTurn();
  let last: JobPlace | null = null;
  while (store.isOpen()) {
    last = await store.clearErasedJobs(accountId, last, AT_ONCE_MAX);
    if (last === null) return;
    await nextTurn();
  }
}
