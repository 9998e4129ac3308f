import { createPacedSteps } from "../platform/paced-steps.ts";

/** A bounded queue of received items. */
export type Inbox<Item> = {
  /** Adds an item; false where the queue is full. */
  readonly put: (item: Item) => boolean;
  readonly waiting: () => number;
  readonly clear: () => void;
};

const ITEMS_A_TURN = 32;
const WORK_MS_A_TURN = 2;
const WAITING_MAX = 4096;

/** Reads items in order of arrival, a bounded number for a bounded time in each turn of the event loop. */
export function createInbox<Item>(read: (item: Item) => void, monotonic: () => number): Inbox<Item> {
  let items: Item[] = [];
  const reading = createPacedSteps({
    step() {
      const item = items.shift();
      if (item !== undefined) read(item);
    },
    left: () => items.length,
    monotonic,
    stepsATurn: ITEMS_A_TURN,
    workMsATurn: WORK_MS_A_TURN,
  });

  return {
    put(item) {
      if (items.length >= WAITING_MAX) return false;
      items.push(item);
      reading.wake();
      return true;
    },
    waiting: () => items.length,
    clear() {
      items = [];
    },
  };
}
