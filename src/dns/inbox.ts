/** What has arrived and waits to be read. */
export type Inbox<Item> = {
  /** False where there is no more room. */
  readonly put: (item: Item) => boolean;
  readonly clear: () => void;
};

const ITEMS_A_TURN = 32;
const WAITING_MAX = 4096;

/** Reads so many items in one turn of the event loop that a burst of them lets other calls in between. */
export function createInbox<Item>(read: (item: Item) => void): Inbox<Item> {
  let waiting: Item[] = [];

  function readSome(): void {
    const due = waiting;
    waiting = due.splice(ITEMS_A_TURN);
    if (waiting.length > 0) setImmediate(readSome);
    for (const item of due) read(item);
  }

  return {
    put(item) {
      if (waiting.length >= WAITING_MAX) return false;
      if (waiting.push(item) === 1) setImmediate(readSome);
      return true;
    },
    clear() {
      waiting = [];
    },
  };
}
