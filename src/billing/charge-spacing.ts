/** How closely charges follow one another, from one group to the next. */
export type ChargeSpacing = {
  /** To be called with the number of its charges when a group begins. */
  readonly begin: (charges: number) => void;
  /** Whether charges come in one upon the other. */
  readonly isDense: () => boolean;
  /** Milliseconds until the next group is due; 0 where charges do not come in one upon the other. */
  readonly untilNextMs: () => number;
};

/**
 * Keeps groups `spaceMs` apart, from begin to begin, where charges come in one upon the other: at `densePerMs` in a
 * millisecond or more. What it costs to write a group hardly grows with its charges.
 */
export function createChargeSpacing(options: {
  readonly monotonic: () => number;
  readonly spaceMs: number;
  readonly densePerMs: number;
}): ChargeSpacing {
  const { monotonic, spaceMs, densePerMs } = options;
  let begunMs = Number.NEGATIVE_INFINITY;
  /** Charges of the last group, for each millisecond since the one before. */
  let perMs = 0;
  const isDense = () => perMs >= densePerMs;

  return {
    begin(charges) {
      const nowMs = monotonic();
      perMs = nowMs > begunMs ? charges / (nowMs - begunMs) : 0;
      begunMs = nowMs;
    },
    isDense,
    untilNextMs: () => (isDense() ? Math.max(0, begunMs + spaceMs - monotonic()) : 0),
  };
}
