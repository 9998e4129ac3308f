import { describe, expect, test } from "bun:test";
import { centreOf, standardErrorOf } from "../../bench/against/estimate.ts";
import { createRandom } from "../../bench/random.ts";

describe("what several rounds come to", () => {
  test("their centre is the middle of symmetric values, whatever one wild round says", () => {
    expect(centreOf([1, 2, 3])).toBe(2);
    expect(centreOf([4])).toBe(4);
    expect(Math.abs(centreOf([0.9, 1, 1.1, 1, 0.95, 1.05, 40]) - 1)).toBeLessThan(0.05);
  });

  test("the error that it states is that of its own spread over many runs", () => {
    const { next } = createRandom(7);
    // Twelve of them in sum are all but normal, with a standard deviation of one.
    const normal = () => Array.from({ length: 12 }, next).reduce((sum, each) => sum + each, -6);
    const runs = Array.from({ length: 300 }, () => Array.from({ length: 40 }, normal));
    const spread = Math.sqrt(runs.reduce((sum, run) => sum + centreOf(run) ** 2, 0) / runs.length);
    const stated = runs.reduce((sum, run) => sum + standardErrorOf([run]), 0) / runs.length;
    expect(Math.abs(stated / spread - 1)).toBeLessThan(0.15);
  });

  test("groups that lie apart are no more precise for the rounds in each", () => {
    const apart = [1, 1.1, 0.9, 1].map((at) => Array.from({ length: 100 }, () => at));
    expect(standardErrorOf(apart)).toBeCloseTo(Math.sqrt(0.02 / 3 / 4), 6);
  });
});
