import { EVERY_DIGIT, type PatternNode, parsePattern } from "./phone-pattern.ts";

/** A pattern that a number's digits match as a whole, or (a prefix) from the first digit on. */
export type Pattern = { readonly source: string; readonly isPrefix: boolean };

/** Says which label a number has: `matches` says for each pattern whether it does, `length` is in digits. */
export type Labeller = (matches: readonly boolean[], length: number) => number;

/** States of one or more automata; 0 is the dead state. `next` has ten states for each, by digit. */
export type Automaton = { readonly next: number[]; readonly labels: number[] };

/** No plan's national number is longer, nor is any longer one looked at. */
export const DIGITS_MAX = 17;

const ANY_DIGIT: PatternNode = { kind: "digits", mask: EVERY_DIGIT };

/** Returns a builder that adds automata to shared states: equal states, of whatever automaton, are one. */
export function createAutomatonBuilder(): {
  readonly automaton: Automaton;
  readonly add: (patterns: readonly Pattern[], label: Labeller) => number;
} {
  const automaton: Automaton = { next: Array(10).fill(0), labels: [0] };
  const known = new Map<string, number>([[[0, ...automaton.next].join(), 0]]);
  return {
    automaton,
    add(patterns, label) {
      const machine = createMachine(patterns);
      const visited = new Map<string, number>();
      const visit = (positions: readonly number[], length: number): number => {
        const key = `${length}:${positions.join()}`;
        const found = visited.get(key);
        if (found !== undefined) return found;
        const own = label(machine.matches(positions), length);
        const next = Array.from({ length: 10 }, (_, digit) => {
          const after = length === DIGITS_MAX ? [] : machine.step(positions, digit);
          return after.length === 0 ? 0 : visit(after, length + 1);
        });
        const shape = [own, ...next].join();
        const state = known.get(shape) ?? automaton.labels.length;
        if (state === automaton.labels.length) {
          known.set(shape, state);
          automaton.labels.push(own);
          automaton.next.push(...next);
        }
        visited.set(key, state);
        return state;
      };
      return visit(machine.start, 0);
    },
  };
}

/** Returns the digits that can begin what the pattern matches. */
export function firstDigitsOf(source: string): number[] {
  const masks: number[] = [];
  const { first } = layOut(
    parsePattern(source),
    (mask) => masks.push(mask) - 1,
    () => {},
  );
  const mask = first.reduce((all, position) => all | (masks[position] ?? 0), 0);
  return Array.from({ length: 10 }, (_, digit) => digit).filter((digit) => (mask >> digit) & 1);
}

type Machine = {
  readonly start: readonly number[];
  readonly step: (positions: readonly number[], digit: number) => number[];
  readonly matches: (positions: readonly number[]) => boolean[];
};

/** The positions of all patterns side by side (Glushkov): a position is a digit that was just read. */
function createMachine(patterns: readonly Pattern[]): Machine {
  const masks: number[] = [];
  const follow: Set<number>[] = [];
  const accepts: number[] = [];
  const start = new Set<number>();
  const place = (mask: number): number => {
    follow.push(new Set());
    return masks.push(mask) - 1;
  };
  const link = (from: Iterable<number>, to: Iterable<number>): void => {
    for (const one of from) for (const other of to) follow[one]?.add(other);
  };
  const lay = (node: PatternNode): Ends => layOut(node, place, link);
  patterns.forEach(({ source, isPrefix }, index) => {
    const ends = lay(parsePattern(source));
    if (ends.isNullable) throw new Error(`A pattern matches no digits: ${source}`);
    for (const one of ends.first) start.add(one);
    for (const one of ends.last) accepts[one] = index;
    if (!isPrefix) return;
    const rest = lay(ANY_DIGIT);
    link(ends.last, rest.first);
    link(rest.last, rest.first);
    for (const one of rest.last) accepts[one] = index;
  });
  // The start is a position of its own, at which nothing was read.
  const origin = place(0);
  link([origin], start);
  return {
    start: [origin],
    step(positions, digit) {
      const after = new Set<number>();
      for (const one of positions) {
        for (const other of follow[one] ?? []) if (((masks[other] ?? 0) >> digit) & 1) after.add(other);
      }
      return [...after].sort((one, other) => one - other);
    },
    matches(positions) {
      const found: boolean[] = patterns.map(() => false);
      for (const one of positions) {
        const index = accepts[one];
        if (index !== undefined) found[index] = true;
      }
      return found;
    },
  };
}

type Ends = { readonly first: number[]; readonly last: number[]; readonly isNullable: boolean };

function layOut(
  node: PatternNode,
  place: (mask: number) => number,
  link: (from: Iterable<number>, to: Iterable<number>) => void,
): Ends {
  const lay = (item: PatternNode): Ends => layOut(item, place, link);
  const chain = (items: readonly Ends[]): Ends =>
    items.reduce(
      (left, right) => {
        link(left.last, right.first);
        return {
          first: left.isNullable ? [...left.first, ...right.first] : left.first,
          last: right.isNullable ? [...left.last, ...right.last] : right.last,
          isNullable: left.isNullable && right.isNullable,
        };
      },
      { first: [], last: [], isNullable: true } as Ends,
    );
  if (node.kind === "digits") {
    const at = place(node.mask);
    return { first: [at], last: [at], isNullable: false };
  }
  if (node.kind === "all") return chain(node.items.map(lay));
  if (node.kind === "any") {
    const ends = node.items.map(lay);
    return {
      first: ends.flatMap(({ first }) => first),
      last: ends.flatMap(({ last }) => last),
      isNullable: ends.some(({ isNullable }) => isNullable),
    };
  }
  return chain(
    Array.from({ length: node.most }, (_, n) => {
      const ends = lay(node.item);
      return n < node.least ? ends : { ...ends, isNullable: true };
    }),
  );
}
