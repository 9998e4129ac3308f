/** One thing that is timed. */
export type Subject = {
  readonly group: string;
  readonly name: string;
  /** Calls that one turn makes. */
  readonly calls: number;
  /** Says what is wrong with the subject's answers; null where all are right. */
  readonly fault: () => string | null | Promise<string | null>;
  /** Makes the calls, and returns something that depends on each of them. */
  readonly turn: () => number | Promise<number>;
};

/** A subject over items, each with a right answer. */
export function over<Item, Answer>(
  group: string,
  name: string,
  items: readonly Item[],
  call: (item: Item) => Answer,
  isRight: (item: Item, answer: Answer) => boolean,
): Subject {
  return {
    group,
    name,
    calls: items.length,
    fault() {
      const wrong = items.find((item) => !isRight(item, call(item)));
      return wrong === undefined ? null : `${name} is wrong about ${JSON.stringify(wrong)}`;
    },
    turn() {
      let truths = 0;
      for (const item of items) if (call(item) !== null) truths += 1;
      return truths;
    },
  };
}
