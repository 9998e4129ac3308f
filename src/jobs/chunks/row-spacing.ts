import type { Clock } from "../../platform/clock.ts";
import { gapReader } from "../shared-gap.ts";

/** Called before each row of a chunk with its position; returns when the row may be verified. */
export type BeforeRow = (position: number) => void;

export type RowSpacingDependencies = {
  readonly clock: Pick<Clock, "monotonic">;
  /** Blocks the thread. */
  readonly wait: (ms: number) => void;
};

/** Rows that are verified without a rest: a third of a millisecond. */
const ROWS_AT_ONCE = 32;
/** The most rows in one gap: a chunk of 4,000 rows, as most jobs have, is spread over half of it. */
const ROWS_A_GAP = 8_000;
/** After this time without another write of the gap there are no calls. */
const WRITTEN_FOR_MS = 100;

/**
 * Spreads the rows of the chunks of a thread over half of the gap between chunks while there are calls. At once a chunk
 * takes a core for tens of milliseconds, and the nodes of one machine begin theirs together where a job begins: calls then
 * wait behind all of them. A chunk that calls find in work is spread from then on; rows that take as long by themselves
 * get no rests.
 */
export function createRowSpacing({
  clock,
  wait,
}: RowSpacingDependencies): (gap: SharedArrayBuffer) => BeforeRow {
  let writesSeen = 0;
  let writtenMs = Number.NEGATIVE_INFINITY;
  return (gap) => {
    const read = gapReader(gap);
    let begunMs = clock.monotonic();
    return (position) => {
      if (position === 0 || position % ROWS_AT_ONCE !== 0) return;
      const nowMs = clock.monotonic();
      const { gapMs, writes } = read();
      if (writes !== writesSeen) writtenMs = nowMs;
      writesSeen = writes;
      const leftMs = begunMs + (gapMs * ROWS_AT_ONCE) / ROWS_A_GAP - nowMs;
      if (leftMs > 0 && nowMs - writtenMs < WRITTEN_FOR_MS) wait(leftMs);
      begunMs = clock.monotonic();
    };
  };
}
