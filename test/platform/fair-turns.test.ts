import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";

const turns = () => createFairTurns(systemClock.monotonic);

test("one piece of work begins in each turn of the event loop", async () => {
  const { turnOf } = turns();
  let begun = 0;
  const work = async () => {
    await turnOf("one");
    begun += 1;
  };
  const all = Promise.all(Array.from({ length: 20 }, work));
  for (let before = 0; begun < 20; before = begun) {
    expect(begun - before).toBeLessThanOrEqual(1);
    await nextTurn();
  }
  await all;
});

test("tenants take turns, however much work of one waits", async () => {
  const { turnOf } = turns();
  const order: string[] = [];
  const work = async (tenant: string) => {
    await turnOf(tenant);
    order.push(tenant);
  };
  const many = Array.from({ length: 5 }, () => work("many"));
  await Promise.all([...many, work("few"), work("few"), work("one")]);
  expect(order.join(" ")).toBe("many few one many few many many many");
});

test("work that fails does not stop the next", async () => {
  const { turnOf } = turns();
  const fails = turnOf("one").then(() => {
    throw new Error("it failed");
  });
  const next = turnOf("one");
  await expect(fails).rejects.toThrow("it failed");
  await next;
});
