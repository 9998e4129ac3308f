import type { Counts, JudgeOutcome, JudgeTask } from "./messages.ts";

/** Judges one kind of item: everything a chunk needs besides its items is bound beforehand. */
export type ItemJudge<Item> = {
  readonly judge: (item: Item, position: number) => Verdict;
  /** The answer where `judge` broke or its thread died. */
  readonly checkFailed: (item: Item) => Verdict;
};

/** One judged item: its result as it goes on the wire, the summary's word for it, and whether it is paid for. */
export type Verdict = {
  readonly result: object;
  readonly status: string;
  readonly chargeable: boolean;
};

/**
 * Judges the items of a chunk in order and writes the results down as bytes. An item whose check throws is
 * answered `check_failed` and not charged; the others go on.
 */
export function judgeItems<Item>(
  task: JudgeTask,
  items: readonly Item[],
  { judge, checkFailed }: ItemJudge<Item>,
): JudgeOutcome {
  const results: object[] = [];
  const counts: { [status: string]: number } = {};
  let chargeable = 0;
  let nextRepeat = 0;
  let position = 0;
  for (const item of items) {
    const verdict = attempt(item, position, judge, checkFailed);
    results.push(verdict.result);
    counts[verdict.status] = (counts[verdict.status] ?? 0) + 1;
    if (task.repeats[nextRepeat] === position) nextRepeat += 1;
    else if (verdict.chargeable) chargeable += 1;
    position += 1;
  }
  return { bytes: writtenDown(results, task), counts, chargeable };
}

/**
 * The results, joined by the separator and led by one where the chunk continues a reply. A list is written at once,
 * as that takes two thirds of the time of one by one, and its brackets are then passed over or replaced in place.
 */
function writtenDown(results: readonly object[], { separator, continues }: JudgeTask): Uint8Array {
  if (separator === ",") {
    const list = new TextEncoder().encode(JSON.stringify(results));
    list[0] = COMMA;
    return list.subarray(continues ? 0 : 1, -1);
  }
  const lines = results.map((result) => JSON.stringify(result));
  return new TextEncoder().encode((continues ? separator : "") + lines.join(separator));
}

const COMMA = 0x2c;

function attempt<Item>(
  item: Item,
  position: number,
  judge: ItemJudge<Item>["judge"],
  checkFailed: (item: Item) => Verdict,
): Verdict {
  try {
    return judge(item, position);
  } catch {
    return checkFailed(item);
  }
}

/** Adds the counts of a chunk to those of the batch. */
export function addCounts(totals: { [status: string]: number }, counts: Counts): void {
  for (const [status, count] of Object.entries(counts)) totals[status] = (totals[status] ?? 0) + count;
}
