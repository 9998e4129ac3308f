import { setImmediate as nextTurn } from "node:timers/promises";
import type { JobPlace, OperatorPort } from "../store/operator-port.ts";
import type { Upkeep } from "../store/port.ts";
import { isStorageFailure } from "../store/storage-error.ts";

type ClearingStore = Pick<OperatorPort, "accountsToClear" | "clearErasedJobs"> & Pick<Upkeep, "isOpen">;

/** Jobs of one transaction: some milliseconds. */
const JOBS_AT_ONCE_MAX = 100;

/** Clears the jobs of an erased account. What the store cannot do now is left to `clearErased`. */
export async function clearJobsOf(store: ClearingStore, accountId: string): Promise<void> {
  try {
    await inSteps(store, accountId);
  } catch (error) {
    if (!isStorageFailure(error)) throw error;
  }
}

/** Ends the erasures that a process left as it ended, or the store did not take. */
export async function clearErased(store: ClearingStore): Promise<void> {
  for (const accountId of await store.accountsToClear()) await inSteps(store, accountId);
}

/** In steps between which calls go on: an account may have a million jobs. */
async function inSteps(store: ClearingStore, accountId: string): Promise<void> {
  let last: JobPlace | null = null;
  while (store.isOpen()) {
    last = await store.clearErasedJobs(accountId, last, JOBS_AT_ONCE_MAX);
    if (last === null) return;
    await nextTurn();
  }
}
