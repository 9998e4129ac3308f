import type { Clock } from "../platform/clock.ts";
import { pause } from "../platform/pause.ts";

/** What is known of a server that calls depend on: `doubtful` while it is late, has missed one question, or has never replied. */
export type Reached = "reached" | "doubtful" | "missed";

/** At most one question is under way, and one begins in this time, however many want to know. */
const BETWEEN_QUESTIONS_MS = 5000;
const QUESTION_DEADLINE_MS = 5000;
/** Those who want to know wait no longer for a question that is under way. */
const WAIT_MS_MAX = 1000;
/** A server that was restarting, or busy for a moment, misses one. */
const MISSED_MAX = 1;

/** Finds out whether a server replies; `ask` resolves with whether it did, and stops with the signal. */
export function createReach(
  clock: Pick<Clock, "monotonic">,
  ask: (signal: AbortSignal) => Promise<boolean>,
): (signal: AbortSignal) => Promise<Reached> {
  /** Questions in a row without a reply; null before the first has ended. */
  let missed: number | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  async function question(): Promise<void> {
    const isHeard = await ask(AbortSignal.timeout(QUESTION_DEADLINE_MS)).catch(() => false);
    missed = isHeard ? 0 : (missed ?? 0) + 1;
    asking = null;
  }

  return async (signal) => {
    if (asking === null && clock.monotonic() - askedMs >= BETWEEN_QUESTIONS_MS) {
      askedMs = clock.monotonic();
      asking = question();
    }
    if (asking !== null) await Promise.race([asking, pause(WAIT_MS_MAX, signal)]);
    if (missed !== null && missed > MISSED_MAX) return "missed";
    return missed === 0 && asking === null ? "reached" : "doubtful";
  };
}
