import { expect, test } from "bun:test";
import { createSemaphore } from "../../src/platform/semaphore.ts";

test("a bounded number runs at a time, in order of arrival, and who stops waiting takes no place", async () => {
  const semaphore = createSemaphore(2);
  const { signal } = new AbortController();
  const [first, second] = [await semaphore.acquire(signal), await semaphore.acquire(signal)];
  const order: string[] = [];
  const leaving = new AbortController();
  const left = semaphore.acquire(leaving.signal);
  const third = semaphore.acquire(signal).then((release) => {
    order.push("third");
    return release;
  });
  const fourth = semaphore.acquire(signal).then((release) => {
    order.push("fourth");
    return release;
  });
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(semaphore.acquire(leaving.signal)).rejects.toThrow("left");
  expect(order).toEqual([]);
  first();
  first();
  (await third)();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
  second();
});
