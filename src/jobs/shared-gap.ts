/** The gap between two chunks of a process, in memory that its threads see: what they do beside calls changes at once. */
export type SharedGap = {
  readonly memory: SharedArrayBuffer;
  /** Writes the gap beside calls, in milliseconds, each time that a call has been observed. */
  readonly write: (gapMs: number) => void;
};

/** A gap as a thread finds it. */
export type GapSeen = {
  readonly gapMs: number;
  /** Another number each time that it was written. */
  readonly writes: number;
};

const GAP = 0;
const WRITES = 1;

export function createSharedGap(): SharedGap {
  const memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  const numbers = new Int32Array(memory);
  return {
    memory,
    write(gapMs) {
      Atomics.store(numbers, GAP, Math.round(gapMs));
      Atomics.add(numbers, WRITES, 1);
    },
  };
}

/** Returns what reads a gap, in any thread. */
export function gapReader(memory: SharedArrayBuffer): () => GapSeen {
  const numbers = new Int32Array(memory);
  return () => ({ gapMs: Atomics.load(numbers, GAP), writes: Atomics.load(numbers, WRITES) });
}
