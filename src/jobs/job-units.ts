import type { Meter } from "../billing/meter.ts";
import { type Answer, after } from "../platform/answer.ts";
import type { JobInState } from "../store/job-records.ts";

/** What a job's account has left. */
export type JobUnits = {
  /** Returns how many units could be reserved now. */
  readonly left: (accountId: string) => Answer<number>;
  /** Whether there are units for an item of a job. An account that had none is read again once it was changed. */
  readonly areLeft: (job: JobInState) => Promise<boolean>;
  /** Begins a pass over jobs that are paused for units; to be called with all jobs that have not ended. */
  readonly seen: (jobs: readonly JobInState[]) => void;
  /** The same for a job that is paused for units: false also where its account has no turn in this pass. */
  readonly areBack: (job: JobInState) => Promise<boolean>;
};

/** Accounts of one pass that may have units again. Each is read, or enters its month: up to ten milliseconds. */
const CHANGED_MAX = 100;
/** Further accounts of one pass, as a change may have been missed. */
const UNCHANGED_MAX = 20;

/** Accounts take turns, so that thousands of jobs that are paused for units hold up no others. */
export function createJobUnits(meter: Pick<Meter, "enter" | "unitsLeft" | "mayCover">): JobUnits {
  /** Accounts of jobs that are paused for units, in the order of their turns. */
  const turns = new Set<string>();
  let inTurn: ReadonlySet<string> = new Set();

  const left = (accountId: string) => after(meter.enter(accountId), () => meter.unitsLeft({ accountId }));
  const haveItem = async ({ accountId, unitsPerItem }: JobInState) => (await left(accountId)) >= unitsPerItem;

  function nextTurns(unitsOf: ReadonlyMap<string, number>): ReadonlySet<string> {
    const changed: string[] = [];
    const unchanged: string[] = [];
    for (const accountId of turns) {
      if (changed.length === CHANGED_MAX) break;
      const isChanged = meter.mayCover({ accountId }, unitsOf.get(accountId) ?? 0);
      if (isChanged) changed.push(accountId);
      else if (unchanged.length < UNCHANGED_MAX) unchanged.push(accountId);
    }
    return new Set([...changed, ...unchanged]);
  }

  return {
    left,
    areLeft: async (job) => meter.mayCover(job, job.unitsPerItem) && haveItem(job),
    seen(jobs) {
      /** The fewest units that an item of the account costs. */
      const unitsOf = new Map<string, number>();
      for (const { accountId, status, statusReason, unitsPerItem } of jobs) {
        if (status !== "paused" || statusReason !== "out_of_units") continue;
        unitsOf.set(accountId, Math.min(unitsPerItem, unitsOf.get(accountId) ?? unitsPerItem));
      }
      for (const accountId of turns) if (!unitsOf.has(accountId)) turns.delete(accountId);
      for (const accountId of unitsOf.keys()) turns.add(accountId);
      inTurn = nextTurns(unitsOf);
      for (const accountId of inTurn) {
        turns.delete(accountId);
        turns.add(accountId);
      }
    },
    areBack: async (job) => inTurn.has(job.accountId) && haveItem(job),
  };
}
