import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFactsBoard, type Place } from "../../src/batch/shared-facts.ts";
import type { KnownDomain } from "../../src/domains/facts.ts";

const known = (domain: string, padding = ""): KnownDomain => {
  const facts = {
    domain,
    mail: { state: "not_checked" as const },
    lists: { disposable: null, freeProvider: false },
  };
  return { json: JSON.stringify({ ...facts, padding }), judgement: null };
};

const read = ({ board, start, end }: Place) => Buffer.from(board.memory).toString("utf8", start, end);

describe("the board of facts", () => {
  test("gives back what was placed, and the same facts are written once", () => {
    const board = createFactsBoard(1000);
    const [a, b] = [known("a.com"), known("b.com")];
    const places = [a, b, a, b].map((domain) => board.place(domain));
    expect(places.map(read)).toEqual([a.json, b.json, a.json, b.json]);
    expect(places[2]).toBe(places[0] as Place);
    expect(places.map(({ key }) => key)).toEqual([1, 2, 1, 2]);
  });

  test("is followed by another when it is full, and what stands on the first stays", () => {
    const board = createFactsBoard(300);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const places = domains.map((domain) => board.place(domain));
    expect(new Set(places.map((place) => place.board)).size).toBeGreaterThan(5);
    expect(places.map(read)).toEqual(domains.map(({ json }) => json));
    for (const { key, board: at } of places) expect(key).toBeGreaterThanOrEqual(at.firstKey);
  });

  test("is written again where what it stood on is too old, so that the boards are bounded", () => {
    const board = createFactsBoard(300, 4);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const places = domains.map((domain) => board.place(domain));
    const again = domains.map((domain) => board.place(domain));
    expect(again.map(read)).toEqual(domains.map(({ json }) => json));
    expect(again.at(-1)?.key).toBeGreaterThan(places.at(-1)?.key ?? 0);
    expect(board.place(domains.at(-1) as KnownDomain)).toBe(again.at(-1) as Place);
    expect(new Set(again.slice(-8).map((place) => place.board)).size).toBeLessThanOrEqual(4);
  });

  test("takes any facts, however long, in whatever script", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 8 }), (paddings) => {
        const board = createFactsBoard(256);
        const domains = paddings.map((padding, n) => known(`d${n}.com`, padding));
        const places = domains.map((domain) => board.place(domain));
        expect(places.map(read)).toEqual(domains.map(({ json }) => json));
      }),
      { numRuns: 200 },
    );
  });
});
