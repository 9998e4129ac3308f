import { setTimeout as elapsed } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";

/** How far the chunks of jobs stand back behind the calls of their process. */
export type Pace = {
  /** Takes how long calls have waited for the store to charge them. */
  readonly observe: (waitMs: number) => void;
  /** Waits until the next chunk may begin; throws the reason of the signal. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  /** The same for the rows of an input, which are read and stored a chunk at a time. */
  readonly turnToRead: (signal: AbortSignal) => Promise<void>;
};

export type PaceDependencies = {
  readonly clock: Pick<Clock, "monotonic">;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** What calls may wait beyond what the database takes by itself. */
const BEYOND_MS = 1;
/** Chunks begin at least this often, whatever calls wait: one is 4,000 rows of most jobs. */
export const GAP_MAX_MS = 800;
/** Reading takes a quarter of the work; half of its share, as who uploads waits for all of it: 40,000 rows a second at least. */
const READING_SHARE = 1 / 8;
/** After this time without a chunk, what calls have waited says no more of chunks. */
const FORGOTTEN_AFTER_MS = 2_000;
/** A gap that is no longer than this is left out. */
const GAP_MIN_MS = 2;
/** A gap grows or shrinks by this factor, in powers of e, in a second in which waits are far off what they may be. */
const POWERS_PER_SECOND = 8;
/** A wait says nothing of more than this time before it was observed, nor of more after it. */
const OBSERVED_FOR_MS = 100;
/** Waits are smoothed over this time. */
const SMOOTHING_MS = 50;
/** What the database takes by itself is the shortest wait of this time and the same before it. */
const SHORTEST_OF_MS = 10_000;

/**
 * Spaces chunks out as far as keeps the wait of calls close to the shortest that they had, as LEDBAT (RFC 6817) does with
 * packets that nobody waits for: whatever it is that both want, cores of this machine or of the database's, or its disk,
 * shows in that wait, and a database that is far away does not. Without calls there is no space; beside calls that a job
 * finds chunks begin far apart, until these are seen to wait no longer for them.
 */
export function createPace({ clock, pause = elapse }: PaceDependencies): Pace {
  let gapMs = GAP_MAX_MS;
  let workedMs = Number.NEGATIVE_INFINITY;
  let observedMs = Number.NEGATIVE_INFINITY;
  /** Until when there are calls, as far as is known. */
  let callsUntilMs = Number.NEGATIVE_INFINITY;
  let smoothMs = 0;
  const shortest = createShortest();

  function moveGap(powers: number, forMs: number): void {
    const moved = gapMs * Math.exp((powers * forMs) / 1_000);
    gapMs = Math.min(GAP_MAX_MS, Math.max(GAP_MIN_MS, moved));
  }

  /** Work of one kind, which begins this share of the gap apart. */
  function createTurns(share: number): Pace["turn"] {
    let begunMs = Number.NEGATIVE_INFINITY;
    return async (signal) => {
      for (;;) {
        const nowMs = clock.monotonic();
        if (nowMs - workedMs > FORGOTTEN_AFTER_MS) gapMs = GAP_MAX_MS;
        const isApart = gapMs > GAP_MIN_MS && nowMs < callsUntilMs;
        const leftMs = isApart ? begunMs + gapMs * share - nowMs : 0;
        if (leftMs <= 0) {
          begunMs = nowMs;
          workedMs = nowMs;
          return;
        }
        // The gap may shrink meanwhile.
        await pause(Math.min(leftMs, OBSERVED_FOR_MS), signal);
      }
    };
  }

  return {
    observe(waitMs) {
      const nowMs = clock.monotonic();
      const forMs = Math.min(nowMs - observedMs, OBSERVED_FOR_MS);
      observedMs = nowMs;
      callsUntilMs = nowMs + OBSERVED_FOR_MS + waitMs;
      smoothMs += (waitMs - smoothMs) * (1 - Math.exp(-forMs / SMOOTHING_MS));
      const beyond = (smoothMs - shortest(nowMs, waitMs)) / BEYOND_MS - 1;
      moveGap(POWERS_PER_SECOND * Math.min(1, Math.max(-1, beyond)), forMs);
    },
    turn: createTurns(1),
    turnToRead: createTurns(READING_SHARE),
  };
}

/** Returns the shortest of what was added within the last seconds. */
function createShortest(): (nowMs: number, ms: number) => number {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let now = Number.POSITIVE_INFINITY;
  let before = Number.POSITIVE_INFINITY;
  return (nowMs, ms) => {
    if (nowMs - sinceMs >= SHORTEST_OF_MS) {
      before = now;
      now = ms;
      sinceMs = nowMs;
    }
    now = Math.min(now, ms);
    return Math.min(now, before);
  };
}

async function elapse(ms: number, signal: AbortSignal): Promise<void> {
  await elapsed(ms, undefined, { signal });
}
