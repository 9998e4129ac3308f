/** Percentiles of durations in milliseconds. */
export type Percentiles = {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
};

export type Histogram = {
  readonly add: (ms: number) => void;
  readonly percentiles: () => Percentiles;
};

/** Every power of two is divided into this many steps: a value is off by 1.6 % at most. */
const STEPS = 64;
const OCTAVES = 32;

/** Counts durations of 1 µs to an hour in constant memory. */
export function createHistogram(): Histogram {
  const counts = new Uint32Array(STEPS * OCTAVES);
  let count = 0;
  let max = 0;
  const at = (share: number): number => {
    let left = Math.max(1, Math.ceil(count * share));
    for (const [step, number] of counts.entries()) {
      left -= number;
      if (left <= 0 && number > 0) return Math.min(max, msOf(step));
    }
    return max;
  };
  return {
    add(ms) {
      const step = stepOf(ms);
      counts[step] = (counts[step] ?? 0) + 1;
      count += 1;
      if (ms > max) max = ms;
    },
    percentiles: () => ({ count, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max }),
  };
}

function stepOf(ms: number): number {
  const octaves = Math.log2(Math.max(1, ms * 1000));
  return Math.min(STEPS * OCTAVES - 1, Math.floor(octaves * STEPS));
}

/** The upper end of a step. */
function msOf(step: number): number {
  return 2 ** ((step + 1) / STEPS) / 1000;
}
