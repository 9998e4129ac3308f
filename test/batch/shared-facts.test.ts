import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFactsBuffer, type FactsOffset } from "../../src/batch/shared-facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";
import { known, read } from "./known-facts.ts";

describe("the buffer of facts", () => {
  test("gives back what was put, and the same facts are written once", () => {
    const buffer = createFactsBuffer(1000);
    const [a, b] = [known("a.com"), known("b.com")];
    const offsets = [a, b, a, b].map((domain) => buffer.put(domain));
    expect(offsets.map(read)).toEqual([a.json, b.json, a.json, b.json]);
    expect(offsets[2]).toBe(offsets[0] as FactsOffset);
    expect(offsets.map(({ key }) => key)).toEqual([1, 2, 1, 2]);
  });

  test("is followed by another when it is full, and what the first contains stays", () => {
    const buffer = createFactsBuffer(300);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const offsets = domains.map((domain) => buffer.put(domain));
    expect(new Set(offsets.map(({ buffer }) => buffer)).size).toBeGreaterThan(5);
    expect(offsets.map(read)).toEqual(domains.map(({ json }) => json));
    for (const { key, buffer: at } of offsets) expect(key).toBeGreaterThanOrEqual(at.firstKey);
  });

  test("is written again where its buffer is too old, so that the buffers are bounded", () => {
    const buffer = createFactsBuffer(300, 4);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const offsets = domains.map((domain) => buffer.put(domain));
    const again = domains.map((domain) => buffer.put(domain));
    expect(again.map(read)).toEqual(domains.map(({ json }) => json));
    expect(again.at(-1)?.key).toBeGreaterThan(offsets.at(-1)?.key ?? 0);
    expect(buffer.put(domains.at(-1) as KnownDomain)).toBe(again.at(-1) as FactsOffset);
    expect(new Set(again.slice(-8).map(({ buffer }) => buffer)).size).toBeLessThanOrEqual(4);
  });

  test("takes any facts, however long, in whatever script", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 8 }), (paddings) => {
        const buffer = createFactsBuffer(256);
        const domains = paddings.map((padding, n) => known(`d${n}.com`, padding));
        const offsets = domains.map((domain) => buffer.put(domain));
        expect(offsets.map(read)).toEqual(domains.map(({ json }) => json));
      }),
      { numRuns: 200 },
    );
  });
});
