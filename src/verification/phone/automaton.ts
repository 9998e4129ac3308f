/** A finite automaton over digits. State 0 is the dead state, with the label 0. */
export type Automaton = {
  /** The next states: ten for each state, by digit. */
  readonly next: Uint16Array;
  readonly labels: Uint16Array;
};

const ZERO = 48;

/**
 * Decodes the automaton at `offset`: a line with the number of states, then in base64 the labels and the next states,
 * 16 bits each, little-endian. Takes 22 bytes for each state.
 */
export function decodeAutomaton(text: string, offset: number): Automaton {
  const firstRow = text.indexOf("\n", offset) + 1;
  const states = Number(text.slice(offset, firstRow));
  const numbers = new Uint16Array(Uint8Array.fromBase64(text.slice(firstRow)).buffer);
  return { labels: numbers.subarray(0, states), next: numbers.subarray(states) };
}

/** Returns the label of the state that the digits lead to, 0 where that is the dead state. */
export function labelAfter({ next, labels }: Automaton, start: number, digits: string): number {
  let state = start;
  for (let at = 0; at < digits.length && state !== 0; at += 1) {
    state = next[state * 10 + digits.charCodeAt(at) - ZERO] ?? 0;
  }
  return labels[state] ?? 0;
}
