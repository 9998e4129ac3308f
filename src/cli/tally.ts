import { type Result, statusOf, type Task, uncheckedReason } from "../tables/task.ts";

/** The outcomes of a run so far. */
export type Tally = {
  readonly rows: number;
  readonly written: number;
  readonly unitsCharged: number;
  readonly statuses: Counts;
  /** Items that could not be checked, by the reason. */
  readonly unchecked: Counts;
};

type Counts = { readonly [word: string]: number };

export const EMPTY_TALLY: Tally = { rows: 0, written: 0, unitsCharged: 0, statuses: {}, unchecked: {} };

/** Adds the results of a block. */
export function addToTally(
  tally: Tally,
  task: Task,
  results: readonly Result[],
  block: { readonly written: number; readonly unitsCharged: number },
): Tally {
  const statuses = { ...tally.statuses };
  const unchecked = { ...tally.unchecked };
  for (const result of results) {
    count(statuses, statusOf(task, result));
    const reason = uncheckedReason(task, result);
    if (reason !== null) count(unchecked, reason);
  }
  return {
    rows: tally.rows + results.length,
    written: tally.written + block.written,
    unitsCharged: tally.unitsCharged + block.unitsCharged,
    statuses,
    unchecked,
  };
}

function count(counts: { [word: string]: number }, word: string): void {
  counts[word] = (counts[word] ?? 0) + 1;
}

export function uncheckedCount({ unchecked }: Tally): number {
  return Object.values(unchecked).reduce((sum, count) => sum + count, 0);
}
