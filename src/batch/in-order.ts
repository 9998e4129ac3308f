/**
 * Works on several items at once and hands the results out in the order of the items. At most `windowMax`
 * items are under way or waiting to be taken, so a reader that stops also stops the work.
 */
export async function* inOrder<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  windowMax: number,
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, undefined> {
  const window: Promise<Out>[] = [];
  for await (const item of items) {
    const result = work(item);
    // A rejection is met where the result is taken; until then it must not count as unhandled.
    result.catch(() => undefined);
    window.push(result);
    if (window.length < windowMax) continue;
    const first = window.shift();
    if (first !== undefined) yield await first;
  }
  for (const result of window) yield await result;
}

/** Hands the first item on by itself, so that nothing waits for company at the start, and the others in groups. */
export async function* inGroups<Item>(
  items: AsyncIterable<Item>,
  groupSize: number,
): AsyncGenerator<readonly Item[], void, undefined> {
  let group: Item[] = [];
  let isFirst = true;
  for await (const item of items) {
    group.push(item);
    if (!isFirst && group.length < groupSize) continue;
    isFirst = false;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
