/** What has arrived and waits to be read. */
export type Inbox<Item> = {
  /** False where there is no more room. */
  readonly put: (item: Item) => boolean;
  readonly clear: () => void;
};

const ITEMS_A_TURN = 32;
/** After so much work the event loop goes on, with what follows from the items that were read. */
const WORK_MS_A_TURN = 2;
const WAITING_MAX = 4096;

/** A turn of the event loop that was asked for. */
type Turn = { reads: number; begunMs: number | null };

/**
 * Reads a bounded number of items, for a bounded time, in one turn of the event loop: other calls go on during a burst.
 * Each is read by itself: all that its reader has resolved then goes on before the next one is, and counts.
 */
export function createInbox<Item>(read: (item: Item) => void, monotonic: () => number): Inbox<Item> {
  let waiting: Item[] = [];
  /** The next turn, which has not begun. */
  let next: Turn | null = null;

  function askForReads(): void {
    next ??= { reads: 0, begunMs: null };
    for (; next.reads < Math.min(waiting.length, ITEMS_A_TURN); next.reads += 1) {
      setImmediate(readOne, next);
    }
  }

  function readOne(turn: Turn): void {
    if (next === turn) next = null;
    const nowMs = monotonic();
    turn.begunMs ??= nowMs;
    turn.reads -= 1;
    const item = nowMs - turn.begunMs < WORK_MS_A_TURN ? waiting.shift() : undefined;
    if (turn.reads === 0 && waiting.length > 0) askForReads();
    if (item !== undefined) read(item);
  }

  return {
    put(item) {
      if (waiting.length >= WAITING_MAX) return false;
      waiting.push(item);
      askForReads();
      return true;
    },
    clear() {
      waiting = [];
    },
  };
}
