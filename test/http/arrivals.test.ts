import { describe, expect, test } from "bun:test";
import { createArrivals } from "../../src/http/arrivals.ts";

const FEW = 8;

describe("calls that arrive", () => {
  test("begin at once while few are open, and leave nothing that waits", () => {
    const arrivals = createArrivals();
    for (let count = 0; count < 100; count += 1) {
      expect(arrivals.gathered()).toBeUndefined();
      arrivals.left();
    }
  });

  test("begin together at the end of the turn once more are open", async () => {
    const arrivals = createArrivals();
    const waits = Array.from({ length: FEW + 4 }, arrivals.gathered);
    expect(waits.map((wait) => wait === undefined)).toEqual(waits.map((_, at) => at < FEW));
    expect(new Set(waits).size).toBe(2);
    await Promise.all(waits);
    expect(arrivals.gathered()).toBeInstanceOf(Promise);
  });

  test("begin at once again when it has quietened", async () => {
    const arrivals = createArrivals();
    const waits = Array.from({ length: 40 }, arrivals.gathered);
    await Promise.all(waits);
    for (const _ of waits) arrivals.left();
    let gathered = 0;
    for (let wait = arrivals.gathered(); wait !== undefined; wait = arrivals.gathered()) {
      gathered += 1;
      await wait;
      arrivals.left();
    }
    expect(gathered).toBeGreaterThan(0);
    expect(gathered).toBeLessThanOrEqual(10);
  });

  test("wait for the next group where charges are not written before, few as they are", async () => {
    const arrivals = createArrivals(() => 3);
    const wait = arrivals.gathered();
    expect(wait).toBeInstanceOf(Promise);
    expect(arrivals.gathered()).toBe(wait as Promise<void>);
    await wait;
  });
});
