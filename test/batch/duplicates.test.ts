import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findDuplicates } from "../../src/batch/duplicates.ts";
import { type Item, listedItems } from "../../src/batch/items.ts";

/** By what an item is known: a document by its type, too. */
const identityOf = (item: Item) => (typeof item === "string" ? item : JSON.stringify(item));

function expected(items: readonly Item[], runItems: number) {
  const seen = new Set<string>();
  const runs: number[][] = [];
  for (const [at, item] of items.entries()) {
    if (at % runItems === 0) runs.push([]);
    if (seen.has(identityOf(item))) runs.at(-1)?.push(at % runItems);
    seen.add(identityOf(item));
  }
  return { runs, distinct: seen.size };
}

function found(items: readonly Item[], runItems: number) {
  const duplicates = findDuplicates(listedItems(items));
  const runs: number[][] = [];
  for (let start = 0; start < items.length; start += runItems) {
    runs.push([...duplicates.inRange(start, Math.min(items.length, start + runItems))]);
  }
  return { runs, distinct: duplicates.distinct() };
}

describe("the duplicates of a batch", () => {
  const text = fc.oneof(
    fc.constantFrom("a@x.com", "b@x.com", "A@x.com", "", "a@x.com ", "\ud800"),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const document = fc.tuple(fc.constantFrom(null, "cpf", "iban"), fc.constantFrom("1", "2", "cpf", ""));

  test.each([
    ["texts", text],
    ["documents", document],
  ] as const)("are those whose %s are the same to the letter, whatever comes between", (_, item) => {
    fc.assert(
      fc.property(
        fc.array<Item>(item as fc.Arbitrary<Item>, { maxLength: 200 }),
        fc.integer({ min: 1, max: 60 }),
        (items, runItems) => expect(found(items, runItems)).toEqual(expected(items, runItems)),
      ),
      { numRuns: 1000 },
    );
  });

  test("are found among as many items as a batch can have", () => {
    const items = Array.from({ length: 100_000 }, (_, n) => `user${n % 90_000}@d${n % 7}.com`);
    expect(found(items, 1000)).toEqual(expected(items, 1000));
  });
});
