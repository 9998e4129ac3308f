import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createShares } from "../../src/batch/shares.ts";

const CAPACITY = 64;
const options = { capacity: CAPACITY, guaranteed: 4, overflow: 4 };

const fill = (shares: ReturnType<typeof createShares>, tenant: string): number => {
  let count = 0;
  while (shares.acquire(tenant, 1)) count += 1;
  return count;
};

describe("a share", () => {
  test("is all of it for a tenant alone, and no more", () => {
    const shares = createShares(options);
    expect(fill(shares, "one")).toBe(CAPACITY);
    expect(shares.held()).toBe(CAPACITY);
  });

  test("is there for a tenant that comes when another holds everything, and grows no larger than its part", () => {
    const shares = createShares(options);
    fill(shares, "one");
    expect(fill(shares, "two")).toBe(CAPACITY / 2);
    expect(shares.isOverShare("one")).toBe(true);
    shares.release("one", 10);
    expect(shares.acquire("one", 1)).toBe(false);
  });

  test("is there for four who come after thirty, whatever those hold", () => {
    const shares = createShares(options);
    for (let tenant = 0; tenant < 30; tenant += 1) fill(shares, `greedy ${tenant}`);
    for (let tenant = 0; tenant < 4; tenant += 1) expect(shares.acquire(`late ${tenant}`, 1)).toBe(true);
  });

  test("of one is there for fifty who come after sixty, each of whom holds what it can", () => {
    const overflow = 8;
    const shares = createShares({ ...options, guaranteedFirst: 1, overflow });
    for (let tenant = 0; tenant < 60; tenant += 1) fill(shares, `greedy ${tenant}`);
    for (let tenant = 0; tenant < 50; tenant += 1) expect(shares.acquire(`late ${tenant}`, 1)).toBe(true);
    expect(shares.held()).toBeLessThanOrEqual(CAPACITY * overflow);
  });

  test("is counted exactly, and all hold no more than the overflow together", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean()), { maxLength: 500 }),
        (steps) => {
          const shares = createShares(options);
          const held = new Map<string, number>();
          for (const [number, isRelease] of steps) {
            const tenant = `${number}`;
            const before = held.get(tenant) ?? 0;
            if (isRelease && before > 0) {
              shares.release(tenant, 1);
              held.set(tenant, before - 1);
            } else if (shares.acquire(tenant, 1)) held.set(tenant, before + 1);
            expect(shares.heldBy(tenant)).toBe(held.get(tenant) ?? 0);
          }
          const total = [...held.values()].reduce((sum, each) => sum + each, 0);
          expect(shares.held()).toBe(total);
          expect(total).toBeLessThanOrEqual(CAPACITY * options.overflow);
        },
      ),
    );
  });
});
