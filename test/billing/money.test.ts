import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatUsd, formatUsdFixed, parseUsd, shareOf } from "../../src/billing/money.ts";

test.each([
  ["0", 0],
  ["29", 29_000_000],
  ["29.00", 29_000_000],
  ["0.0015", 1_500],
  ["999999999.999999", 999_999_999_999_999],
  ["007.5", 7_500_000],
])("%s USD is %d micro-USD", (text, microUsd) => {
  expect(parseUsd(text)).toBe(microUsd);
});

test.each([
  "",
  ".",
  "1.",
  ".5",
  "-1",
  "+1",
  "1e3",
  "1,5",
  " 1",
  "1 ",
  "0.0000001",
  "1000000000",
  "NaN",
  "٣",
  "1\n",
])("%j is no amount", (text) => {
  expect(parseUsd(text)).toBeNull();
});

test("an amount that is formatted is parsed back the same", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (microUsd) => {
      expect(parseUsd(formatUsd(microUsd))).toBe(microUsd);
      expect(parseUsd(formatUsdFixed(microUsd, 6))).toBe(microUsd);
      expect(formatUsd(microUsd)).toMatch(/^\d+\.\d{2,6}$/);
    }),
    { seed: 20_261_120 },
  );
});

test("amounts are written with two to six decimals, as many as they need", () => {
  expect([0, 29_000_000, 7_500_000, 1_500, 9_860_215].map(formatUsd)).toEqual([
    "0.00",
    "29.00",
    "7.50",
    "0.0015",
    "9.860215",
  ]);
  expect(formatUsdFixed(1_500, 6)).toBe("0.001500");
});

test("a share is rounded half up, and exact where floating point is not", () => {
  expect(shareOf(1, 1, 2)).toBe(1);
  expect(shareOf(1, 1, 3)).toBe(0);
  expect(shareOf(999_999_999_999_999, 2_678_399, 2_678_400)).toBe(999_999_626_642_771);
});
