import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFactsBoard } from "../../src/batch/facts-board.ts";
import type { FactsOnBoard } from "../../src/batch/messages.ts";
import type { KnownDomain } from "../../src/domains/facts.ts";

const known = (domain: string, padding = ""): KnownDomain => {
  const facts = {
    domain,
    mail: { state: "not_checked" as const },
    lists: { disposable: null, freeProvider: false },
  };
  return { facts, json: JSON.stringify({ ...facts, padding }) };
};

const read = ({ memory, places }: FactsOnBoard): string[] => {
  const board = Buffer.from(memory);
  return Array.from({ length: places.length / 2 }, (_, at) =>
    board.toString("utf8", places[at * 2], places[at * 2 + 1]),
  );
};

test("what was placed reads back, and the same facts are written once", () => {
  const board = createFactsBoard(1000);
  const [a, b] = [known("a.com"), known("b.com")];
  const first = board.place([a, b]);
  const second = board.place([b, a]);
  expect(read(first)).toEqual([a.json, b.json]);
  expect(read(second)).toEqual([b.json, a.json]);
  expect(second.number).toBe(first.number);
  expect([...second.places].sort()).toEqual([...first.places].sort());
});

test("a full board is followed by another, and what stands on the first stays", () => {
  const board = createFactsBoard(300);
  const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
  const placed = domains.map((domain) => board.place([domain]));
  expect(new Set(placed.map(({ number }) => number)).size).toBeGreaterThan(5);
  expect(placed.flatMap(read)).toEqual(domains.map(({ json }) => json));
});

test("any facts fit, however long, in whatever script", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 8 }), (paddings) => {
      const board = createFactsBoard(256);
      const domains = paddings.map((padding, n) => known(`d${n}.com`, padding));
      expect(read(board.place(domains))).toEqual(domains.map(({ json }) => json));
    }),
    { numRuns: 200 },
  );
});
