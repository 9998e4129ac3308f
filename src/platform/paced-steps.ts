/** Takes queued steps, a bounded number in each turn. */
export type PacedSteps = {
  /** To be called when there is something to do. */
  readonly wake: () => void;
};

/** A scheduled turn of the event loop. */
type Turn = { callbacks: number; taken: number; begunMs: number | null };

/** Steps are grouped in one callback as long as they take no more than this together. */
const GROUP_MS = 0.2;
const GROUP_MAX = 8;

/**
 * Takes a bounded number of steps, for a bounded time, in one turn of the event loop, so that other calls continue during a
 * burst. What a step resolves runs at the end of its callback, and counts towards the time: the first step of a turn has
 * a callback of its own, and by what it took the others share theirs, or each has its own where steps are slow.
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
  let group = 1;

  function wake(): void {
    const steps = Math.min(left(), stepsATurn);
    if (steps === 0) return;
    next ??= { callbacks: 0, taken: 0, begunMs: null };
    const callbacks = 1 + Math.ceil((steps - 1) / group);
    for (; next.callbacks < callbacks; next.callbacks += 1) setImmediate(takeSome, next);
  }

  function takeSome(turn: Turn): void {
    if (next === turn) next = null;
    const nowMs = monotonic();
    turn.begunMs ??= nowMs;
    const workedMs = nowMs - turn.begunMs;
    turn.callbacks -= 1;
    if (turn.taken > 0) group = groupOf(workedMs / turn.taken);
    try {
      if (workedMs < workMsATurn) takeGroup(turn);
    } finally {
      if (turn.callbacks === 0) wake();
    }
  }

  function takeGroup(turn: Turn): void {
    const untilTaken = Math.min(stepsATurn, turn.taken + (turn.taken === 0 ? 1 : group));
    while (turn.taken < untilTaken && left() > 0) {
      turn.taken += 1;
      step();
    }
  }

  return { wake };
}

function groupOf(stepMs: number): number {
  return Math.max(1, Math.min(GROUP_MAX, Math.floor(GROUP_MS / stepMs)));
}
