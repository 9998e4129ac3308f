const STEPS_MAX = 4;

/** Returns where a scale of whole numbers from 0 ends, and its marks from the top down: 2 to 4 steps of 1, 2 or 5 times a power of ten. */
export function scaleFor(most: number): { readonly top: number; readonly ticks: readonly number[] } {
  const rough = Math.max(1, most / STEPS_MAX);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const steps = Math.max(2, Math.ceil(most / step));
  return { top: steps * step, ticks: Array.from({ length: steps + 1 }, (_, at) => (steps - at) * step) };
}
