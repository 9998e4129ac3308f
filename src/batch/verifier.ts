import type { ByteWriter } from "../platform/byte-writer.ts";
import type { Counts, VerifiedChunk, VerifyTask } from "./messages.ts";

/** Verifies one kind of item: everything a chunk needs besides its items is bound beforehand. */
export type ItemVerifier<Result> = {
  readonly verify: (position: number) => ItemVerdict<Result>;
  /** The result where `verify` broke or its thread died. */
  readonly checkFailed: (position: number) => ItemVerdict<Result>;
  readonly write: WriteResults<Result>;
  /** Results that are written at once. */
  readonly writtenAtOnce: number;
};

/** Writes some results as JSON, with the separator between them, behind a text that may be empty. */
export type WriteResults<Result> = (
  before: string,
  results: readonly Result[],
  separator: "," | "\n",
  writer: ByteWriter,
) => void;

/** One verified item: its result, the summary's word for it, and whether it is paid for. */
export type ItemVerdict<Result> = {
  readonly result: Result;
  readonly status: string;
  readonly chargeable: boolean;
};

/**
 * Verifies the items of a chunk in order and writes the results down as bytes. The result of an item whose check throws
 * is `check_failed` and not charged; the others go on.
 */
export function verifyItems<Result>(
  { count, duplicates, separator, continues }: VerifyTask,
  { verify, checkFailed, write, writtenAtOnce }: ItemVerifier<Result>,
  writer: ByteWriter,
): VerifiedChunk {
  let results: Result[] = [];
  const counts: { [status: string]: number } = {};
  let chargeable = 0;
  let failures = 0;
  let nextDuplicate = 0;
  writer.begin();
  let before = continues ? separator : "";
  for (let position = 0; position < count; position++) {
    const verdict = attempt(position, verify, checkFailed);
    results.push(verdict.result);
    counts[verdict.status] = (counts[verdict.status] ?? 0) + 1;
    const isDuplicate = duplicates[nextDuplicate] === position;
    if (isDuplicate) nextDuplicate += 1;
    if (!verdict.chargeable) failures += 1;
    else if (!isDuplicate) chargeable += 1;
    if (results.length < writtenAtOnce && position < count - 1) continue;
    write(before, results, separator, writer);
    before = separator;
    results = [];
  }
  return { bytes: writer.end(), counts, chargeable, failures };
}

/** Objects that are written at once: that takes two thirds of the time of one by one. */
export const OBJECTS_AT_ONCE = 16;

export const writeObjects: WriteResults<object> = (before, results, separator, writer) => {
  const text =
    separator === "\n"
      ? results.map((result) => JSON.stringify(result)).join(separator)
      : JSON.stringify(results).slice(1, -1);
  writer.text(before + text);
};

function attempt<Result>(
  position: number,
  verify: ItemVerifier<Result>["verify"],
  checkFailed: ItemVerifier<Result>["checkFailed"],
): ItemVerdict<Result> {
  try {
    return verify(position);
  } catch {
    return checkFailed(position);
  }
}

/** Adds the counts of a chunk to those of the batch. */
export function addCounts(totals: { [status: string]: number }, counts: Counts): void {
  for (const [status, count] of Object.entries(counts)) totals[status] = (totals[status] ?? 0) + count;
}
