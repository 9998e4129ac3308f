/** The gap between two chunks of a process, in memory that its threads see: what they do beside calls changes at once. */
export type SharedGap = {
  readonly memory: SharedArrayBuffer;
  /** Takes the gap beside calls, in milliseconds. */
  readonly write: (gapMs: number) => void;
  /** Notes that there are calls, for `forMs` from now on. */
  readonly observe: (forMs: number) => void;
  /** Until what it returns is disposed of, somebody waits for a thread. */
  readonly hurry: () => Disposable;
};

/** What a thread sees of it. */
export type GapSeen = {
  readonly gapMs: number;
  /** Another number each time that calls were noted. */
  readonly observed: number;
  /** For how long the last note holds. */
  readonly forMs: number;
  readonly isHurried: boolean;
};

const GAP = 0;
const OBSERVED = 1;
const FOR = 2;
const HURRIED = 3;
const NUMBERS = 4;

export function createSharedGap(): SharedGap {
  const memory = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT);
  const numbers = new Int32Array(memory);
  return {
    memory,
    write: (gapMs) => void Atomics.store(numbers, GAP, Math.round(gapMs)),
    observe(forMs) {
      Atomics.store(numbers, FOR, Math.round(forMs));
      Atomics.add(numbers, OBSERVED, 1);
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
  return () => ({
    gapMs: Atomics.load(numbers, GAP),
    observed: Atomics.load(numbers, OBSERVED),
    forMs: Atomics.load(numbers, FOR),
    isHurried: Atomics.load(numbers, HURRIED) > 0,
  });
}
