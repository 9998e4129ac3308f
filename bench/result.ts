import type { Machine } from "./machine.ts";

/** What a suite found out: the shape of every file in bench/results. */
export type SuiteResult = {
  readonly suite: string;
  readonly at: string;
  /** A tenth of the time was spent: good to see that all works, not to compare with. */
  readonly quick: boolean;
  readonly machine: Machine;
  readonly versions: { readonly [name: string]: string };
  readonly figures: readonly Figure[];
  readonly targets: readonly TargetOutcome[];
};

export type Figure = {
  /** Unique in its suite, and the same from run to run. */
  readonly name: string;
  readonly group: string;
  readonly unit: string;
  readonly better: "higher" | "lower" | "neither";
  readonly value: number;
  /** The least and the most of the rounds of which the value is the median. */
  readonly range?: RoundRange;
  readonly p50?: number;
  readonly p99?: number;
  /** The lowest and the highest of the rounds that p50 and p99 are the medians of. */
  readonly spread?: {
    readonly rounds: number;
    readonly p50: readonly [low: number, high: number];
    readonly p99: readonly [low: number, high: number];
  };
  /** What the value depends on, for plots: `{ threads: 2, chunk: 1000 }`. */
  readonly at?: { readonly [name: string]: number | string };
};

export type RoundRange = { readonly least: number; readonly most: number; readonly rounds: number };

/** Returns the median of the rounds, and how far they lie apart. */
export function overRounds(values: readonly number[]): {
  readonly value: number;
  readonly range: RoundRange;
} {
  const range = { least: Math.min(...values), most: Math.max(...values), rounds: values.length };
  return { value: median(values), range };
}

export type Bound = { readonly atLeast: number } | { readonly atMost: number };

export type TargetOutcome = {
  readonly what: string;
  readonly against: string;
  readonly bound: Bound;
  readonly unit: string;
  /** Null where it could not be measured here; the note says why. */
  readonly measured: number | null;
  readonly met: boolean;
  readonly note: string;
};

/** Holds a measured value against its bound. */
export function judgeTarget(
  target: Omit<TargetOutcome, "met" | "note" | "unit"> & { readonly note?: string; readonly unit?: string },
): TargetOutcome {
  const { measured, bound } = target;
  const met =
    measured !== null && ("atLeast" in bound ? measured >= bound.atLeast : measured <= bound.atMost);
  return { note: "", unit: "×", ...target, met };
}

export type Slowdown = {
  readonly name: string;
  readonly before: number;
  readonly now: number;
  readonly change: number;
};

/** Figures that are worse than before by more than `threshold` (0.2: a fifth), worst first. */
export function slowdowns(before: SuiteResult, now: SuiteResult, threshold: number): Slowdown[] {
  const earlier = new Map(before.figures.map((figure) => [figure.name, figure]));
  const worse: Slowdown[] = [];
  for (const { name, value, better } of now.figures) {
    const was = earlier.get(name)?.value;
    if (was === undefined || was === 0 || value === 0 || better === "neither") continue;
    const change = better === "higher" ? was / value - 1 : value / was - 1;
    if (change > threshold) worse.push({ name, before: was, now: value, change });
  }
  return worse.sort((a, b) => b.change - a.change);
}

/** Returns the names of earlier figures that are not there now, or are no number. */
export function missingFigures(before: SuiteResult, now: SuiteResult): readonly string[] {
  const found = new Set(now.figures.filter(({ value }) => Number.isFinite(value)).map(({ name }) => name));
  return before.figures.map(({ name }) => name).filter((name) => !found.has(name));
}

/** The middle of the values; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}
