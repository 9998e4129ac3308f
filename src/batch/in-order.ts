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
