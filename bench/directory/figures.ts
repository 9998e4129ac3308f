import type { Bound } from "./bounds.ts";

/** Prints a line of figures. */
export function say(name: string, figures: string): void {
  process.stdout.write(`${name}: ${figures}\n`);
}

/** PASS where the figure is under its bound. */
export function verdict(figure: number, bound: number, unit: string): string {
  return `${figure < bound ? "PASS" : "SHORT"} (bound ${bound} ${unit})`;
}

/** Without a verdict where no bound is named. */
export function spread(times: readonly number[], bound: Bound | null): string {
  const [first = 0] = times;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const shares = `first ${first.toFixed(2)} ms, p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms`;
  const figures = `${shares}, longest ${at(1).toFixed(2)} ms`;
  return bound === null ? figures : `${figures}: ${verdict(at(bound.at), bound.ms, "ms")}`;
}
