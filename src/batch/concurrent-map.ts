/**
 * Works on several items at once and yields the results in the order of the items. At most as many items are under
 * way or waiting to be taken as `windowMax` says at the time, so a reader that stops also stops the work.
 */
export async function* mapConcurrently<In, Out>(
  items: Iterable<In> | AsyncIterable<In>,
  windowMax: number | (() => number),
  work: (item: In) => Promise<Out>,
): AsyncGenerator<Out, void, undefined> {
  const window: Promise<Out>[] = [];
  const isFull = () => window.length >= (typeof windowMax === "number" ? windowMax : windowMax());
  for await (const item of items) {
    const result = work(item);
    // A rejection is met where the result is taken; until then it must not count as unhandled.
    result.catch(() => undefined);
    window.push(result);
    while (isFull()) {
      const first = window.shift();
      if (first !== undefined) yield await first;
    }
  }
  for (const result of window) yield await result;
}

/** Takes the first item of a source at once: what leads up to it is under way before anyone asks for it. */
export function prefetch<Item>(
  source: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  const first = source.next();
  // A rejection is met by the reader of the results.
  first.catch(() => undefined);
  return prepend(first, source);
}

/**
 * Puts a first value, which was taken from a generator, in front of the rest. To end it ends the rest, also before
 * anything was read, where a generator of its own would never have begun.
 */
export function prepend<Item>(
  first: IteratorResult<Item, void> | Promise<IteratorResult<Item, void>>,
  rest: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  let next: typeof first | null = first;
  const joined: AsyncGenerator<Item, void, undefined> = {
    async next() {
      if (next === null) return await rest.next();
      const taken = next;
      next = null;
      return await taken;
    },
    return() {
      next = null;
      return rest.return();
    },
    throw: (error) => rest.throw(error),
    [Symbol.asyncIterator]: () => joined,
    async [Symbol.asyncDispose]() {
      await joined.return();
    },
  };
  return joined;
}

/**
 * Yields the items in groups of these sizes, one after the other; what is left is the last group. The first group is
 * divided where `due`, called at its first item, resolves before it is complete.
 */
export async function* inGroups<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  sizes: readonly number[],
  due?: () => Promise<void>,
): AsyncGenerator<readonly Item[], void, undefined> {
  let group: Item[] = [];
  let place = 0;
  let taken = 0;
  let late: Promise<null> | null = null;
  try {
    for (;;) {
      const next = items.next();
      let found = await (late === null ? next : Promise.race([next, late]));
      if (found === null) {
        late = null;
        // A rejection is met below; until then it must not count as unhandled.
        next.catch(() => undefined);
        yield group;
        group = [];
        found = await next;
      }
      if (found.done === true) break;
      group.push(found.value);
      taken += 1;
      if (place === 0 && taken === 1) late = due?.().then(() => null) ?? null;
      if (taken < (sizes[place] ?? Number.POSITIVE_INFINITY)) continue;
      place += 1;
      taken = 0;
      late = null;
      yield group;
      group = [];
    }
    if (group.length > 0) yield group;
  } finally {
    await items.return();
  }
}
