import type { Findings } from "../load/scenarios.ts";
import { shown } from "../print.ts";
import { type Figure, judgeTarget, overRounds } from "../result.ts";

/** What one round at one of the two finds, by what it is called: a rate, a time, a cost. */
export type Readings = { readonly [what: string]: number };

/** Something that both checkouts do. */
export type Subject<Of> = {
  readonly name: string;
  readonly rounds: number;
  /** Rounds of each that come first and do not count. */
  readonly warmups: number;
  /** Units of what is found; those of rates end in `/s`. */
  readonly units: { readonly [what: string]: string };
  /** One round. */
  readonly measure: (one: Of) => Promise<Readings>;
};

/** A change within this share is no change. */
const CHANGE_MAX = 0.03;

/**
 * Measures this checkout and the other by turns; who is first changes from round to round. What is measured is the median of the quotients of the rounds.
 */
export async function compare<Of>(
  subject: Subject<Of>,
  both: readonly Of[],
  rounds: number,
): Promise<Findings> {
  const found = both.map((): Readings[] => []);
  for (let round = -subject.warmups; round < rounds; round += 1) {
    const turn = [...both.entries()];
    for (const [at, one] of round % 2 === 0 ? turn : turn.reverse()) {
      const readings = await subject.measure(one);
      if (round >= 0) found[at]?.push(readings);
    }
  }
  const [here = [], there = []] = found;
  const whats = Object.entries(subject.units);
  return {
    figures: whats.flatMap(([what, unit]) => [
      figureOf(`${subject.name}: ${what}, this checkout`, unit, valuesOf(here, what)),
      figureOf(`${subject.name}: ${what}, the other`, unit, valuesOf(there, what)),
    ]),
    targets: whats.map(([what, unit]) => targetOf(subject.name, what, unit, here, there)),
  };
}

const valuesOf = (rounds: readonly Readings[], what: string) =>
  rounds.map((round) => round[what] ?? Number.NaN);

const isRate = (unit: string) => unit.endsWith("/s");

function figureOf(name: string, unit: string, values: readonly number[]): Figure {
  return { name, group: "by turns", unit, better: isRate(unit) ? "higher" : "lower", ...overRounds(values) };
}

function targetOf(
  name: string,
  what: string,
  unit: string,
  here: readonly Readings[],
  there: readonly Readings[],
) {
  const ours = overRounds(valuesOf(here, what));
  const theirs = overRounds(valuesOf(there, what));
  const { value, range } = overRounds(
    here.map((round, at) => (round[what] ?? Number.NaN) / (there[at]?.[what] ?? Number.NaN)),
  );
  return judgeTarget({
    what: `${name}: ${what}`,
    against: "the other checkout, by turns",
    bound: isRate(unit) ? { atLeast: 1 - CHANGE_MAX } : { atMost: 1 + CHANGE_MAX },
    measured: value,
    note: `${shown(ours.value)} against ${shown(theirs.value)} ${unit}; ${range.least.toFixed(2)} to ${range.most.toFixed(2)} in ${range.rounds} rounds`,
  });
}
