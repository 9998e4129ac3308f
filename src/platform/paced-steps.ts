/** Takes queued steps, a bounded number in each turn. */
export type PacedSteps = {
  /** To be called when there is something to do. */
  readonly wake: () => void;
};

/** A scheduled turn of the event loop. */
type Turn = { steps: number; begunMs: number | null };

/**
 * Takes a bounded number of steps, for a bounded time, in one turn of the event loop, so that other calls continue during a
 * burst. Each step is a callback of its own: what it resolves runs before the next step, and counts towards the time.
 */
export function createPacedSteps({
  step,
  left,
  monotonic,
  stepsATurn,
  workMsATurn,
}: {
  readonly step: () => void;
  /** The number of queued steps. */
  readonly left: () => number;
  readonly monotonic: () => number;
  readonly stepsATurn: number;
  /** Work in one turn of the event loop; the rest of the steps follow in later turns. */
  readonly workMsATurn: number;
}): PacedSteps {
  /** The next turn, while none of its steps has run. */
  let next: Turn | null = null;

  function wake(): void {
    const steps = Math.min(left(), stepsATurn);
    if (steps === 0) return;
    next ??= { steps: 0, begunMs: null };
    for (; next.steps < steps; next.steps += 1) setImmediate(takeOne, next);
  }

  function takeOne(turn: Turn): void {
    if (next === turn) next = null;
    const nowMs = monotonic();
    turn.begunMs ??= nowMs;
    turn.steps -= 1;
    try {
      if (nowMs - turn.begunMs < workMsATurn && left() > 0) step();
    } finally {
      if (turn.steps === 0) wake();
    }
  }

  return { wake };
}
