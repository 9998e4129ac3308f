import { setTimeout as elapsed } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import { createSharedGap } from "./shared-gap.ts";

/** Spaces out the chunks of jobs while calls of the same process wait for the database. */
export type Pace = {
  /** Takes the time that calls have waited for the store to charge them. */
  readonly observe: (waitMs: number) => void;
  /** Waits until the next chunk may start; throws the reason of the signal. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  /** Waits until the next chunk of an input may be read and stored. */
  readonly turnToRead: (signal: AbortSignal) => Promise<void>;
  /** What threads see of the gap between chunks, by which they space out rows. */
  readonly gap: SharedArrayBuffer;
  /** Until what it returns is disposed of, somebody waits for a thread: none rests. */
  readonly hurry: () => Disposable;
};

export type PaceDependencies = {
  readonly clock: Pick<Clock, "monotonic">;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  readonly random?: () => number;
};

/** The wait of calls beyond the database's own time that is accepted: the target of the control loop. */
const BEYOND_MS = 1;
/** The longest gap between two chunks, however long calls wait: a chunk of most jobs has 4,000 rows. */
export const GAP_MAX_MS = 1_600;
/** A gap is shorter by up to this share, at random: nodes that begin a job together would begin all chunks together. */
const SPREAD_SHARE = 1 / 4;
/** The gap of reading as a part of that of chunks, as uploaders wait for all of it: 40,000 rows a second at least. */
const READING_SHARE = 1 / 16;
/** After this time without a chunk the gap is reset: the waits of calls say nothing about chunks any more. */
const FORGOTTEN_AFTER_MS = 2_000;
/** A gap of at most this is skipped. */
const GAP_MIN_MS = 2;
/** The fastest change of the gap, in powers of e a second. */
const POWERS_PER_SECOND = 8;
/** How long an observed wait counts, before and after it was observed. */
const OBSERVED_FOR_MS = 100;
/** The time constant by which waits are smoothed. */
const SMOOTHING_MS = 50;
/** The database's own time is the shortest wait of the current window of this length and the one before. */
const SHORTEST_OF_MS = 10_000;

/**
 * Adapts the gap between chunks so that calls wait little longer than their shortest wait, as LEDBAT (RFC 6817) does for
 * background traffic. That wait shows contention for any shared resource (cores of this machine or of the database's, its
 * disk), while a long distance to the database raises the shortest wait too and changes nothing. Without calls there is no
 * gap. When calls appear, the gap starts at its maximum and shrinks while they wait no longer.
 */
export function createPace({ clock, pause = elapse, random = Math.random }: PaceDependencies): Pace {
  let gapMs = GAP_MAX_MS;
  let workedMs = Number.NEGATIVE_INFINITY;
  let observedMs = Number.NEGATIVE_INFINITY;
  /** Calls are assumed to continue until then. */
  let callsUntilMs = Number.NEGATIVE_INFINITY;
  let smoothMs = 0;
  const shortest = createShortest();
  const shared = createSharedGap();

  function setGap(ms: number): void {
    gapMs = ms;
    shared.write(ms);
  }

  function moveGap(powers: number, forMs: number): void {
    const moved = gapMs * Math.exp((powers * forMs) / 1_000);
    setGap(Math.min(GAP_MAX_MS, Math.max(GAP_MIN_MS, moved)));
  }

  /** Creates the turns of one kind of work, whose gap is `share` of the common one. */
  function createTurns(share: number): Pace["turn"] {
    let begunMs = Number.NEGATIVE_INFINITY;
    /** The share of the gap that is now waited for, shortened at random. */
    let ownShare = share;
    return async (signal) => {
      for (;;) {
        const nowMs = clock.monotonic();
        if (nowMs - workedMs > FORGOTTEN_AFTER_MS) setGap(GAP_MAX_MS);
        const hasCalls = nowMs < callsUntilMs;
        if (!hasCalls) shared.noteCalls(0);
        const isApart = gapMs > GAP_MIN_MS && hasCalls;
        const leftMs = isApart ? begunMs + gapMs * ownShare - nowMs : 0;
        if (leftMs <= 0) {
          begunMs = nowMs;
          ownShare = share * (1 - SPREAD_SHARE * random());
          workedMs = nowMs;
          return;
        }
        // In short pauses, as the gap may shrink meanwhile.
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
      shared.noteCalls(OBSERVED_FOR_MS + waitMs);
    },
    turn: createTurns(1),
    turnToRead: createTurns(READING_SHARE),
    gap: shared.memory,
    hurry: shared.hurry,
  };
}

/** Returns a function that adds a time and returns the shortest of the last 10 to 20 s. */
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
