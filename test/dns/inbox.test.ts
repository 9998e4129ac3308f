import { expect, test } from "bun:test";
import { createInbox } from "../../src/dns/inbox.ts";

/** Returns how many items are read in each turn of the event loop, where each takes `msEach` in all. */
async function readsByTurn(items: number, msEach: number): Promise<number[]> {
  let nowMs = 0;
  let reads = 0;
  const inbox = createInbox<number>(
    () => {
      reads += 1;
      void Promise.resolve().then(() => {
        nowMs += msEach;
      });
    },
    () => nowMs,
  );
  for (let item = 0; item < items; item += 1) inbox.put(item);
  const byTurn: number[] = [];
  for (let before = 0; before < items; before = reads) {
    await new Promise((resolve) => setImmediate(resolve));
    if (reads > before) byTurn.push(reads - before);
  }
  return byTurn;
}

test("a burst of replies is read 32 in a turn", async () => {
  expect(await readsByTurn(70, 0)).toEqual([32, 32, 6]);
});

test("a turn ends after 2 ms of reading and of the work that follows", async () => {
  expect(await readsByTurn(5, 1)).toEqual([2, 2, 1]);
  expect(await readsByTurn(3, 50)).toEqual([1, 1, 1]);
});

test("replies beyond its capacity are dropped", async () => {
  const read: number[] = [];
  const inbox = createInbox<number>(
    (item) => read.push(item),
    () => 0,
  );
  const taken = Array.from({ length: 4097 }, (_, item) => inbox.put(item));
  expect(taken.indexOf(false)).toBe(4096);
  inbox.clear();
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(read).toEqual([]);
});
