import type { Findings } from "../load/scenarios.ts";
import { shown } from "../print.ts";
import { type Figure, judgeTarget, overRounds, type TargetOutcome } from "../result.ts";
import { centreOf, standardErrorOf } from "./estimate.ts";

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
  /** Of what is found beside: nothing is measured longer for its sake. */
  readonly unitsBeside?: { readonly [what: string]: string };
  /** One round. */
  readonly measure: (one: Of) => Promise<Readings>;
};

/** A change within this share is no change. */
const CHANGE_MAX = 0.03;
/** What is found is precise enough to be held against that bound. */
const STANDARD_ERROR_MAX = 0.009;

/** This checkout and the other, or what was started in each. */
export type Pair<Of> = readonly [here: Of, there: Of];

/** What was found at each of the two with one pair of processes, round by round. */
type Found = Pair<Readings[]>;

export type Compared<Of> = {
  readonly subject: Subject<Of>;
  /** One for each pair. */
  readonly found: Found[];
};

export function toBeCompared<Of>(subject: Subject<Of>): Compared<Of> {
  return { subject, found: [] };
}

/**
 * Measures this checkout and the other by turns, and adds what is found; who is first changes from round to round, also
 * from the last of one pair to the first of the next.
 */
export async function addRounds<Of>(
  { subject, found }: Compared<Of>,
  [here, there]: Pair<Of>,
  { rounds, warmups }: Pick<Subject<Of>, "rounds" | "warmups">,
): Promise<void> {
  const added: Found = [[], []];
  const turn = [
    [here, added[0]],
    [there, added[1]],
  ] as const;
  const known = found.reduce((sum, [readings]) => sum + readings.length, 0);
  for (let round = known - warmups; round < known + rounds; round += 1) {
    for (const [one, readings] of round % 2 === 0 ? turn : turn.toReversed()) {
      const reading = await subject.measure(one);
      if (round >= known) readings.push(reading);
    }
  }
  found.push(added);
}

/** Whether more rounds would tell little. What they would say has no part in it: only how far those so far lie apart. */
export function isPrecise({ subject, found }: Compared<never>): boolean {
  return Object.keys(subject.units).every(
    (what) => standardErrorOf(quotientsOf(found, what)) <= STANDARD_ERROR_MAX,
  );
}

/** Returns what is known so far, a line for each unit. */
export function progressOf({ subject, found }: Compared<never>): readonly string[] {
  return unitsOf(subject).map(([what]) => {
    const quotients = quotientsOf(found, what);
    return `${what}: ${Math.exp(centreOf(quotients.flat())).toFixed(3)} ${errorText(quotients)}`;
  });
}

export function findingsOf({ subject, found }: Compared<never>): Findings {
  const { name } = subject;
  const whats = unitsOf(subject);
  return {
    figures: whats.flatMap(([what, unit]) => [
      figureOf(`${name}: ${what}, this checkout`, unit, valuesOf(found, 0, what)),
      figureOf(`${name}: ${what}, the other`, unit, valuesOf(found, 1, what)),
    ]),
    targets: whats.map(([what, unit]) => targetOf(name, what, unit, found)),
  };
}

const unitsOf = ({
  units,
  unitsBeside,
}: Subject<never>): readonly (readonly [what: string, unit: string])[] =>
  Object.entries({ ...units, ...unitsBeside });

const valuesOf = (found: readonly Found[], which: 0 | 1, what: string) =>
  found.flatMap((pair) => pair[which].map((round) => round[what] ?? Number.NaN));

/** Logarithms of the quotients of the rounds, pair by pair: as far from 0 for half as for double. */
const quotientsOf = (found: readonly Found[], what: string): readonly (readonly number[])[] =>
  found.map(([here, there]) =>
    here.map((round, at) => Math.log((round[what] ?? Number.NaN) / (there[at]?.[what] ?? Number.NaN))),
  );

const errorText = (quotients: readonly (readonly number[])[]) =>
  `± ${(standardErrorOf(quotients) * 100).toFixed(1)} %`;

const isRate = (unit: string) => unit.endsWith("/s");

function figureOf(name: string, unit: string, values: readonly number[]): Figure {
  return { name, group: "by turns", unit, better: isRate(unit) ? "higher" : "lower", ...overRounds(values) };
}

/** What is measured is the centre of the quotients of the rounds. */
function targetOf(name: string, what: string, unit: string, found: readonly Found[]): TargetOutcome {
  const [ours, theirs] = [overRounds(valuesOf(found, 0, what)), overRounds(valuesOf(found, 1, what))];
  const quotients = quotientsOf(found, what);
  const { range } = overRounds(quotients.flat().map(Math.exp));
  return judgeTarget({
    what: `${name}: ${what}`,
    against: "the other checkout, by turns",
    bound: isRate(unit) ? { atLeast: 1 - CHANGE_MAX } : { atMost: 1 + CHANGE_MAX },
    measured: Math.exp(centreOf(quotients.flat())),
    note: `${errorText(quotients)}; ${shown(ours.value)} against ${shown(theirs.value)} ${unit}; ${range.least.toFixed(2)} to ${range.most.toFixed(2)} in ${range.rounds} rounds`,
  });
}
