import type { BeforeItem } from "../../batch/chunk-verifier.ts";
import type { Clock } from "../../platform/clock.ts";
import { CHUNK_ROWS_MAX } from "../intake/chunk-rows.ts";
import { gapReader } from "../shared-gap.ts";

export type RowSpacingDependencies = {
  readonly clock: Pick<Clock, "monotonic">;
  /** Blocks the thread. */
  readonly wait: (ms: number) => void;
};

/** Rows that are verified without a rest: a third of a millisecond. */
const ROWS_AT_ONCE = 32;
/** The most rows in one gap: a full chunk is spread over half of it. */
const ROWS_A_GAP = 2 * CHUNK_ROWS_MAX;
/** A shorter rest is put off: each is a wake-up, and on busy cores a late one. */
const REST_MIN_MS = 1;
/** Lateness of rows and rests that is made up for. */
const LATE_MAX_MS = 20;

/**
 * Spreads the rows of the chunks of a thread over half of the gap between chunks while there are calls. At once a chunk
 * takes a core for tens of milliseconds, and the nodes of one machine begin theirs together where a job begins: calls then
 * wait behind all of them. A chunk that calls find in work is spread from then on. Rows that take as long by themselves
 * have no rests, nor do any while somebody waits for a thread.
 */
export function createRowSpacing({
  clock,
  wait,
}: RowSpacingDependencies): (gap: SharedArrayBuffer) => BeforeItem {
  let notesBefore = 0;
  let notedMs = Number.NEGATIVE_INFINITY;
  return (gap) => {
    const read = gapReader(gap);
    let dueMs = clock.monotonic();
    return (position) => {
      if (position === 0 || position % ROWS_AT_ONCE !== 0) return;
      const nowMs = clock.monotonic();
      const { gapMs, notes, holdsMs, isHurried } = read();
      if (notes !== notesBefore) notedMs = nowMs;
      notesBefore = notes;
      if (nowMs - notedMs >= holdsMs || isHurried) {
        dueMs = nowMs;
        return;
      }
      dueMs = Math.max(dueMs, nowMs - LATE_MAX_MS) + (gapMs * ROWS_AT_ONCE) / ROWS_A_GAP;
      if (dueMs - nowMs >= REST_MIN_MS) wait(dueMs - nowMs);
    };
  };
}
