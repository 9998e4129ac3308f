import { describe, expect, test } from "bun:test";
import { inGroups, mapConcurrently, prefetch } from "../../src/batch/concurrent-map.ts";
import { createHeldResults } from "../../src/batch/held-results.ts";

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Work that ends when the test says so. */
function heldWork() {
  const held = new Map<number, () => void>();
  return {
    started: () => held.size,
    end: (item: number) => held.get(item)?.(),
    work: (item: number) =>
      new Promise<number>((resolve) => {
        held.set(item, () => resolve(item * 10));
      }),
  };
}

describe("in order", () => {
  test("results come in the order of the items, whatever ends first", async () => {
    const { work, end } = heldWork();
    const results = collect(mapConcurrently([1, 2, 3], 3, work));
    await new Promise(setImmediate);
    for (const item of [3, 1, 2]) end(item);
    expect(await results).toEqual([10, 20, 30]);
  });

  test("no more than the window is under way, and a reader that stops ends the work", async () => {
    const { work, end, started } = heldWork();
    const results = mapConcurrently([1, 2, 3, 4, 5, 6], 2, work);
    const first = results.next();
    await new Promise(setImmediate);
    expect(started()).toBe(2);
    end(1);
    expect((await first).value).toBe(10);
    expect(started()).toBe(2);
    await results.return();
    expect(started()).toBe(2);
  });

  test("a window that narrows is kept to once what had started before has been taken", async () => {
    const { work, end, started } = heldWork();
    let windowMax = 4;
    const results = mapConcurrently([1, 2, 3, 4, 5, 6], () => windowMax, work);
    const first = results.next();
    await new Promise(setImmediate);
    expect(started()).toBe(4);
    windowMax = 2;
    for (const item of [1, 2, 3]) end(item);
    expect((await first).value).toBe(10);
    expect((await results.next()).value).toBe(20);
    expect((await results.next()).value).toBe(30);
    expect(started()).toBe(4);
    const fourth = results.next();
    await new Promise(setImmediate);
    expect(started()).toBe(5);
    end(4);
    expect((await fourth).value).toBe(40);
    await results.return();
  });

  test("what is prefetched is under way before anyone asks, and comes whole and in order", async () => {
    const { work, end, started } = heldWork();
    const results = prefetch(mapConcurrently([1, 2, 3], 2, work));
    await new Promise(setImmediate);
    expect(started()).toBe(2);
    const all = collect(results);
    for (const item of [1, 2, 3]) {
      end(item);
      await new Promise(setImmediate);
    }
    expect(await all).toEqual([10, 20, 30]);
  });

  test.each([0, 1, 2])(
    "results that are prefetched are held no longer than their reader stays, who takes %d of them",
    async (taken) => {
      const held = createHeldResults();
      const bytes = new Uint8Array(30_000_000);
      const results = prefetch(
        held.untilRead("one", (hold) =>
          mapConcurrently([1, 2, 3, 4], 4, async () => {
            const result = { bytes, counts: {}, chargeable: 0, failures: 0 };
            hold(result);
            return result;
          }),
        ),
      );
      for (let n = 0; n < taken; n += 1) await results.next();
      await new Promise(setImmediate);
      expect(held.isTight("one")).toBe(true);
      await results.return();
      expect(held.isTight("one")).toBe(false);
      expect((await results.next()).done).toBe(true);
    },
  );

  test("what is prefetched and fails is thrown to those who ask, and to nobody else", async () => {
    const results = prefetch(mapConcurrently([1], 1, () => Promise.reject(new Error("one"))));
    await new Promise(setImmediate);
    await expect(results.next()).rejects.toThrow("one");
  });

  test("what fails is thrown at its place, after what came before it", async () => {
    const results = mapConcurrently([1, 2, 3], 3, async (item) => {
      if (item === 2) throw new Error("two");
      return item;
    });
    expect((await results.next()).value).toBe(1);
    await expect(results.next()).rejects.toThrow("two");
  });
});

describe("in groups", () => {
  const source = async function* (count: number) {
    for (let n = 1; n <= count; n += 1) yield n;
  };

  test.each([
    [0, []],
    [1, [[1]]],
    [3, [[1], [2, 3]]],
    [8, [[1], [2, 3, 4], [5, 6], [7, 8]]],
  ])("%i items: by the sizes, and what is left by itself", async (count, groups) => {
    expect(await collect(inGroups(source(count), [1, 3, 2]))).toEqual(groups);
  });

  test("the first group is divided once its time has come, and the others are not", async () => {
    const held = [1, 2, 3, 4, 5, 6].map(() => Promise.withResolvers<void>());
    async function* slowly() {
      for (const [place, { promise }] of held.entries()) {
        await promise;
        yield place + 1;
      }
    }
    const due = Promise.withResolvers<void>();
    let asked = 0;
    const groups = inGroups(slowly(), [3, 2, 1], () => {
      asked += 1;
      return due.promise;
    });
    const first = groups.next();
    held[0]?.resolve();
    await new Promise(setImmediate);
    expect(asked).toBe(1);
    due.resolve();
    expect((await first).value).toEqual([1]);
    for (const { resolve } of held) resolve();
    expect(await collect(groups)).toEqual([[2, 3], [4, 5], [6]]);
    expect(asked).toBe(1);
  });

  test("a failure behind the first group is met, and the source is closed when the groups are left", async () => {
    let isClosed = false;
    async function* failing() {
      try {
        yield 1;
        await new Promise(setImmediate);
        throw new Error("late");
      } finally {
        isClosed = true;
      }
    }
    const groups = inGroups(failing(), [2], () => Promise.resolve());
    expect((await groups.next()).value).toEqual([1]);
    await new Promise(setImmediate);
    await expect(groups.next()).rejects.toThrow("late");
    isClosed = false;
    const left = inGroups(failing(), [1]);
    await left.next();
    await left.return();
    expect(isClosed).toBe(true);
  });
});
