import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Returns what a call waits for where this many have begun in the same turn of the event loop; null where it need not. The
 * server goes through all calls that one read of a socket brings before it turns to anybody else, for as long as each is
 * answered at once: thousands, where a caller sends them ahead of their answers. It closes the connection of who does so
 * behind a call that waits.
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
