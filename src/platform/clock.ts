/** The source of time of every component. */
export type Clock = {
  /** Milliseconds since the epoch, UTC. It may jump when the operator sets the time. */
  readonly now: () => number;
  /** Milliseconds from an arbitrary start that never run backwards: for durations and deadlines. */
  readonly monotonic: () => number;
};

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
