import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  generators,
  habitualLocal,
  heldOutAbbreviations,
  heldOutNames,
  heldOutVowellessNames,
  type NameGroup,
  writtenGroups,
} from "../../../bench/eval/gibberish-locals.ts";
import { seededRandom } from "../../../src/tools/data-refresh/gibberish-corpus.ts";
import { GIBBERISH_THRESHOLD, gibberishScore } from "../../../src/verification/email/gibberish.ts";
import { decodeGibberishModel } from "../../../src/verification/email/gibberish-table.ts";
import { quickestMs } from "../../support/duration.ts";
import ordinaryText from "../../vectors/gibberish/ordinary.txt" with { type: "text" };
import randomText from "../../vectors/gibberish/random.txt" with { type: "text" };

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function shareAbove(scores: readonly number[], limit: number): number {
  return scores.filter((score) => score > limit).length / scores.length;
}

const random = seededRandom(31);
function scoresOf(groups: readonly NameGroup[], localsEach: number): number[] {
  return groups.flatMap((group) =>
    Array.from({ length: localsEach }, () => gibberishScore(habitualLocal(group, random))),
  );
}

const people = scoresOf(heldOutNames(), 100);

describe("the gibberish score of names and random text that the model was not fitted on", () => {
  test("is above the threshold for fewer than one person in two hundred", () => {
    expect(shareAbove(people, GIBBERISH_THRESHOLD)).toBeLessThan(0.005);
  });

  const limit = people.toSorted((a, b) => b - a)[Math.floor(people.length * 0.01)] ?? 0;

  for (const [name, make] of generators) {
    test(`finds nine in ten of ${name} of 8 to 16 characters at 1 % false positives`, () => {
      const scores = Array.from({ length: 500 }, () =>
        gibberishScore(make(8 + Math.floor(random() * 9), random)),
      );
      expect(shareAbove(scores, limit)).toBeGreaterThanOrEqual(0.9);
    });
  }

  test("is above the threshold for fewer than one in two hundred roles, staff numbers, words, brands, places and nicknames", () => {
    const scores = writtenGroups().flatMap((group) => group.locals.map(gibberishScore));
    expect(shareAbove(scores, GIBBERISH_THRESHOLD)).toBeLessThan(0.005);
  });

  test("is above the threshold for fewer than one person in five whose name has no vowels", () => {
    expect(shareAbove(scoresOf(heldOutVowellessNames(), 2000), GIBBERISH_THRESHOLD)).toBeLessThan(0.2);
  });

  test("is above the threshold for fewer than one in five abbreviations of business", () => {
    const scores = heldOutAbbreviations().locals.map(gibberishScore);
    expect(shareAbove(scores, GIBBERISH_THRESHOLD)).toBeLessThan(0.2);
  });

  test("is at most 0.25 for 97 people in 100", () => {
    expect(shareAbove(people, 0.25)).toBeLessThan(0.03);
  });
});

describe("vectors", () => {
  test.each(linesOf(randomText))("%s is gibberish", (local) => {
    expect(gibberishScore(local)).toBeGreaterThan(GIBBERISH_THRESHOLD);
  });

  test.each(linesOf(ordinaryText))("%s is not gibberish", (local) => {
    expect(gibberishScore(local)).toBeLessThanOrEqual(0.5);
  });
});

describe("the score of a local part", () => {
  test("ignores the tag, case, repeated separators and accents", () => {
    expect(gibberishScore("john.smith+xk7qz9vw2p")).toBe(gibberishScore("john.smith"));
    expect(gibberishScore("JOHN.SMITH")).toBe(gibberishScore("john.smith"));
    expect(gibberishScore(".john..smith.")).toBe(gibberishScore("john.smith"));
    expect(gibberishScore("jöhn.smíth")).toBe(gibberishScore("john.smith"));
  });

  test("is 0 without Latin letters", () => {
    for (const local of ["", "12345678901234", "1234-5678", "...", "+", "王小明", "иван"]) {
      expect(gibberishScore(local)).toBe(0);
    }
  });

  test("is at most 0.5 for four characters or fewer", () => {
    for (const local of ["xq", "xqz", "xqzv", "q7z4", "b2c3"]) {
      expect(gibberishScore(local)).toBeLessThanOrEqual(0.5);
    }
  });

  test("is high where one part is random, before or behind a name", () => {
    expect(gibberishScore("john.xqzvtkrwpl")).toBeGreaterThan(GIBBERISH_THRESHOLD);
    expect(gibberishScore("xqzvtkrwpl.john")).toBeGreaterThan(GIBBERISH_THRESHOLD);
  });
});

describe("any input", () => {
  test("has a score from 0 to 1 with at most three decimals", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.string({ unit: fc.constantFrom(..."abcxyz019.+-_éß王"), maxLength: 80 }),
    );
    fc.assert(
      fc.property(anyText, (local) => {
        const score = gibberishScore(local);
        expect(score >= 0 && score <= 1 && Math.round(score * 1000) / 1000 === score).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("of 10,000 characters takes less than 5 ms", () => {
    const inputs = ["a", "xq7", "á", "王", ".", "\ud800", "9"].map((piece) =>
      piece.repeat(10_000 / piece.length),
    );
    for (const input of inputs) {
      expect(quickestMs(() => gibberishScore(input), 5)).toBeLessThan(5);
      expect(gibberishScore(input)).not.toBeNaN();
    }
  });
});

test("a damaged table throws", () => {
  expect(() => decodeGibberishModel('weights\t1\ncalibration\t1\ntables\n""')).toThrow();
});
