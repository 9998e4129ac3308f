/**
 * What the threads of a process know of its calls, in memory that they see: the gap between two chunks beside calls,
 * whether there are any, and whether somebody waits for a thread. What they do beside calls changes at once.
 */
export type SharedGap = {
  readonly memory: SharedArrayBuffer;
  /** Takes the gap, in milliseconds. */
  readonly write: (gapMs: number) => void;
  /** Notes that there are calls, and for how long that holds; with 0 that there are none. */
  readonly noteCalls: (holdsMs: number) => void;
  /** Until what it returns is disposed of, somebody waits for a thread. */
  readonly hurry: () => Disposable;
};

/** What a thread sees of it. */
export type GapSeen = {
  readonly gapMs: number;
  /** Another number each time that calls were noted. */
  readonly notes: number;
  /** How long the last note holds, or a later one. */
  readonly holdsMs: number;
  readonly isHurried: boolean;
};

const GAP = 0;
const NOTES = 1;
const HOLDS = 2;
const HURRIED = 3;
const NUMBERS = 4;

export function createSharedGap(): SharedGap {
  const memory = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT);
  const numbers = new Int32Array(memory);
  return {
    memory,
    write: (gapMs) => void Atomics.store(numbers, GAP, Math.round(gapMs)),
    noteCalls(holdsMs) {
      Atomics.store(numbers, HOLDS, Math.round(holdsMs));
      Atomics.add(numbers, NOTES, 1);
    },
    hurry() {
      Atomics.add(numbers, HURRIED, 1);
      return { [Symbol.dispose]: () => void Atomics.sub(numbers, HURRIED, 1) };
    },
  };
}

/** Returns what reads a gap, in any thread. */
export function gapReader(memory: SharedArrayBuffer): () => GapSeen {
  const numbers = new Int32Array(memory);
  return () => {
    const gapMs = Atomics.load(numbers, GAP);
    // Before how long it holds, which is written first.
    const notes = Atomics.load(numbers, NOTES);
    const holdsMs = Atomics.load(numbers, HOLDS);
    return { gapMs, notes, holdsMs, isHurried: Atomics.load(numbers, HURRIED) > 0 };
  };
}
