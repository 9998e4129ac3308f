import { type Figure, median, type TargetOutcome } from "../result.ts";
import { type SuiteOptions, shareOfTenth } from "../suite.ts";
import type { DnsProcess } from "./dns.ts";
import type { BenchServer } from "./server-process.ts";

/** What every scenario gets. */
export type Bench = {
  readonly options: SuiteOptions;
  readonly dns: DnsProcess;
  /** The server that was proved right and is warm. */
  readonly server: BenchServer;
  /** Milliseconds and rounds for this run: a quick one takes a tenth. */
  readonly ms: (full: number) => number;
  readonly rounds: (full: number) => number;
  /** Items of the largest batches: fewer where a run only shows that it works, whatever their names say. */
  readonly items: (full: number) => number;
};

export type Findings = { readonly figures: readonly Figure[]; readonly targets: readonly TargetOutcome[] };

/** Of a whole run, and of any that takes a tenth of it or more. */
export const ROUND_MS_MIN = 200;

export function scaled(scale: number): Pick<Bench, "ms" | "rounds" | "items"> {
  const share = shareOfTenth(scale);
  const roundMsMin = ROUND_MS_MIN * share;
  return {
    ms: (full) => Math.max(roundMsMin, full * scale),
    rounds: (full) => Math.max(1, Math.round(full * scale)),
    items: (full) => Math.round(full * share),
  };
}

/** The median of what is picked of each round. */
export function medianOf<Round>(
  rounds: readonly Round[] | undefined,
  pick: (round: Round) => number,
): number {
  return median((rounds ?? []).map(pick));
}

/** The median of the quotients of rounds that were measured one right after the other. */
export function medianRatio(above: readonly number[], below: readonly number[]): number {
  return median(above.map((value, at) => value / (below[at] ?? Number.NaN)));
}
