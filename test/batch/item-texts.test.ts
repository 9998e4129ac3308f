import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { itemTexts } from "../../src/batch/item-texts.ts";

function textsOf(json: string, count: number): string[] {
  const texts = itemTexts(json, count);
  return Array.from({ length: texts.count }, (_, at) => texts.whole.slice(texts.from(at), texts.end(at)));
}

describe("the texts of a chunk", () => {
  test("are read as they were written, whatever stands in them", () => {
    const text = fc.oneof(
      fc.constantFrom("", ",", '","', '"', "\\", "[", "]", "a@b.com", "\u2028", "\ud800"),
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.emailAddress(),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), (texts) => {
        expect(textsOf(JSON.stringify(texts), texts.length)).toEqual(texts);
      }),
      { numRuns: 2_000 },
    );
  });
});
