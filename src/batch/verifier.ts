import type { Counts, VerifiedChunk, VerifyTask } from "./messages.ts";

/** Verifies one kind of item: everything a chunk needs besides its items is bound beforehand. */
export type ItemVerifier<Result> = {
  readonly verify: (position: number) => ItemVerdict<Result>;
  /** The result where `verify` broke or its thread died. */
  readonly checkFailed: (position: number) => ItemVerdict<Result>;
  /** Returns some results as JSON, with the separator between them. */
  readonly write: (results: readonly Result[], separator: "," | "\n") => string;
};

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
  { verify, checkFailed, write }: ItemVerifier<Result>,
): VerifiedChunk {
  const results: Result[] = [];
  const counts: { [status: string]: number } = {};
  let chargeable = 0;
  let failures = 0;
  let nextDuplicate = 0;
  for (let position = 0; position < count; position++) {
    const verdict = attempt(position, verify, checkFailed);
    results.push(verdict.result);
    counts[verdict.status] = (counts[verdict.status] ?? 0) + 1;
    const isDuplicate = duplicates[nextDuplicate] === position;
    if (isDuplicate) nextDuplicate += 1;
    if (!verdict.chargeable) failures += 1;
    else if (!isDuplicate) chargeable += 1;
  }
  const text = write(results, separator);
  const bytes = new TextEncoder().encode(continues ? separator + text : text);
  return { bytes, counts, chargeable, failures };
}

/**
 * Results that are written at once: that takes two thirds of the time of one by one. One text that is not in Latin
 * script makes all that are written with it take four times as long, so they are few.
 */
const OBJECTS_AT_ONCE = 16;

/** Returns objects as JSON, with the separator between them. */
export function writeObjects(results: readonly object[], separator: "," | "\n"): string {
  if (separator === "\n") return results.map((result) => JSON.stringify(result)).join(separator);
  let whole = "";
  for (let at = 0; at < results.length; at += OBJECTS_AT_ONCE) {
    const written = JSON.stringify(results.slice(at, at + OBJECTS_AT_ONCE)).slice(1, -1);
    whole += at === 0 ? written : `,${written}`;
  }
  return whole;
}

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
