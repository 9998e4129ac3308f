import { expect, test } from "bun:test";
import { createTurns } from "../../src/jobs/turns.ts";

test("a bounded number has a turn at a time, in the order in which they came, and who leaves takes none", async () => {
  const turns = createTurns(2);
  const { signal } = new AbortController();
  const [first, second] = [await turns.take(signal), await turns.take(signal)];
  const order: string[] = [];
  const leaving = new AbortController();
  const left = turns.take(leaving.signal);
  const third = turns.take(signal).then((end) => {
    order.push("third");
    return end;
  });
  const fourth = turns.take(signal).then((end) => {
    order.push("fourth");
    return end;
  });
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(turns.take(leaving.signal)).rejects.toThrow("left");
  expect(order).toEqual([]);
  first();
  first();
  (await third)();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
  second();
});
