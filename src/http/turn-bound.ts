import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Bounds the calls that begin in one turn of the event loop: returns null for one that may begin now, and beyond
 * `callsMax` the next turn to wait for. The server goes through all calls that one read of a socket brings before it
 * turns to another connection, as long as each is answered at once: thousands, where a caller pipelines them. It closes
 * the connection of such a caller behind the first call that waits.
 */
export function createTurnBound(callsMax: number): () => Promise<void> | null {
  let begun = 0;
  const begin = () => {
    begun = 0;
  };
  return () => {
    begun += 1;
    if (begun === 1) setImmediate(begin);
    return begun > callsMax ? nextTurn() : null;
  };
}
