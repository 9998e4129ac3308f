import type { Counts, JudgeOutcome, JudgeTask } from "./messages.ts";

/** Judges one kind of item: everything a chunk needs besides its items is bound beforehand. */
export type ItemJudge<Result> = {
  readonly judge: (position: number) => Verdict<Result>;
  /** The answer where `judge` broke or its thread died. */
  readonly checkFailed: (position: number) => Verdict<Result>;
  /** Some results as JSON, one after the other with the separator between them. */
  readonly write: (results: readonly Result[], separator: "," | "\n") => string;
};

/** One judged item: its result, the summary's word for it, and whether it is paid for. */
export type Verdict<Result> = {
  readonly result: Result;
  readonly status: string;
  readonly chargeable: boolean;
};

/**
 * Judges the items of a chunk in order and writes the results down as bytes. An item whose check throws is
 * answered `check_failed` and not charged; the others go on.
 */
export function judgeItems<Result>(
  { count, repeats, separator, continues }: JudgeTask,
  { judge, checkFailed, write }: ItemJudge<Result>,
): JudgeOutcome {
  const results: Result[] = [];
  const counts: { [status: string]: number } = {};
  let chargeable = 0;
  let nextRepeat = 0;
  for (let position = 0; position < count; position++) {
    const verdict = attempt(position, judge, checkFailed);
    results.push(verdict.result);
    counts[verdict.status] = (counts[verdict.status] ?? 0) + 1;
    if (repeats[nextRepeat] === position) nextRepeat += 1;
    else if (verdict.chargeable) chargeable += 1;
  }
  const text = write(results, separator);
  return { bytes: new TextEncoder().encode(continues ? separator + text : text), counts, chargeable };
}

/** A list is written at once, as that takes two thirds of the time of one by one. */
export function writeObjects(results: readonly object[], separator: "," | "\n"): string {
  if (separator === ",") return JSON.stringify(results).slice(1, -1);
  return results.map((result) => JSON.stringify(result)).join(separator);
}

function attempt<Result>(
  position: number,
  judge: ItemJudge<Result>["judge"],
  checkFailed: ItemJudge<Result>["checkFailed"],
): Verdict<Result> {
  try {
    return judge(position);
  } catch {
    return checkFailed(position);
  }
}

/** Adds the counts of a chunk to those of the batch. */
export function addCounts(totals: { [status: string]: number }, counts: Counts): void {
  for (const [status, count] of Object.entries(counts)) totals[status] = (totals[status] ?? 0) + count;
}
