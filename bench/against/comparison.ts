import type { Findings } from "../load/scenarios.ts";
import { shown } from "../print.ts";
import { type Figure, judgeTarget, overRounds } from "../result.ts";

/** What one round at one of the two finds, by what it is called: a rate, a time, a cost. */
export type Readings = { readonly [what: string]: number };

/** Something that both checkouts do. */
export type Subject<Of> = {
  readonly name: string;
  /** With one pair of servers. */
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

/** This checkout and the other, or what was started in each. */
export type Pair<Of> = readonly [here: Of, there: Of];

/** What was found at each of the two, round by round. */
type Found = Pair<Readings[]>;

export type Compared<Of> = { readonly subject: Subject<Of>; readonly found: Found };

export function toBeCompared<Of>(subject: Subject<Of>): Compared<Of> {
  return { subject, found: [[], []] };
}

/**
 * Measures this checkout and the other by turns, and adds what is found; who is first changes from round to round, also
 * from the last of one pair to the first of the next.
 */
export async function addRounds<Of>(
  found: Found,
  subject: Subject<Of>,
  [here, there]: Pair<Of>,
  rounds: number,
): Promise<void> {
  const turn = [
    [here, found[0]],
    [there, found[1]],
  ] as const;
  const known = found[0].length;
  for (let round = known - subject.warmups; round < known + rounds; round += 1) {
    for (const [one, readings] of round % 2 === 0 ? turn : turn.toReversed()) {
      const reading = await subject.measure(one);
      if (round >= known) readings.push(reading);
    }
  }
}

/** What is measured is the median of the quotients of the rounds. */
export function findingsOf({ name, units }: Subject<never>, [here, there]: Found): Findings {
  const whats = Object.entries(units);
  return {
    figures: whats.flatMap(([what, unit]) => [
      figureOf(`${name}: ${what}, this checkout`, unit, valuesOf(here, what)),
      figureOf(`${name}: ${what}, the other`, unit, valuesOf(there, what)),
    ]),
    targets: whats.map(([what, unit]) => targetOf(name, what, unit, here, there)),
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
