/** Bounds the items in flight; others wait in a queue. */
export type QueryQueue<Item> = {
  /** Starts the item now or queues it; false where the queue is full. */
  readonly enter: (item: Item) => boolean;
  /** Ends an item; false where it was not in flight. */
  readonly leave: (item: Item) => boolean;
  /** Starts the next item instead of a late one, which stays in flight. */
  readonly markLate: (item: Item) => void;
  /** The items in flight, late ones included, in order of their starts. */
  readonly underWay: () => Item[];
  /** Removes and returns all items, queued ones included. */
  readonly clear: () => Item[];
  readonly isFull: () => boolean;
  readonly counts: () => { readonly inFlight: number; readonly late: number; readonly waiting: number };
};

export type QueryQueueOptions<Item> = {
  readonly inFlightMax: number;
  readonly lateMax: number;
  readonly waitingMax: number;
  readonly start: (item: Item) => void;
};

const COMPACT_FROM = 1024;

/** First come, first served; every operation takes constant time. */
export function createQueryQueue<Item>({
  inFlightMax,
  lateMax,
  waitingMax,
  start,
}: QueryQueueOptions<Item>): QueryQueue<Item> {
  const underWay = new Set<Item>();
  const late = new Set<Item>();
  let waiting: Item[] = [];
  let head = 0;

  const inFlight = () => underWay.size - late.size;
  const isFull = () => waiting.length - head >= waitingMax;

  function enter(item: Item): boolean {
    if (inFlight() < inFlightMax) begin(item);
    else if (isFull()) return false;
    else waiting.push(item);
    return true;
  }

  function begin(item: Item): void {
    underWay.add(item);
    start(item);
  }

  function leave(item: Item): boolean {
    if (!underWay.delete(item)) return false;
    late.delete(item);
    next();
    return true;
  }

  function markLate(item: Item): void {
    if (late.size >= lateMax || late.has(item) || !underWay.has(item)) return;
    late.add(item);
    next();
  }

  function next(): void {
    const item = inFlight() < inFlightMax ? waiting[head] : undefined;
    if (item === undefined) return;
    head++;
    if (head === waiting.length || head >= COMPACT_FROM) {
      waiting = waiting.slice(head);
      head = 0;
    }
    begin(item);
  }

  function clear(): Item[] {
    const all = [...underWay, ...waiting.slice(head)];
    underWay.clear();
    late.clear();
    waiting = [];
    head = 0;
    return all;
  }

  return {
    enter,
    leave,
    markLate,
    underWay: () => [...underWay],
    clear,
    isFull,
    counts: () => ({ inFlight: inFlight(), late: late.size, waiting: waiting.length - head }),
  };
}
