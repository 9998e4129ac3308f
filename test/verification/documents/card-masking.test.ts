import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DOCUMENT_TYPES } from "../../../src/contract/words.ts";
import { autodetect } from "../../../src/verification/documents/autodetect.ts";
import { withoutCardNumber } from "../../../src/verification/documents/card-hiding.ts";
import { checkFailed, validateDocument } from "../../../src/verification/documents/registry.ts";
import { digits, withLuhnDigit } from "../../support/documents-generators.ts";

/** Numbers of the usual brands, in their usual lengths. */
const numbers = fc
  .constantFrom(
    ["4", 16],
    ["51", 16],
    ["55", 16],
    ["37", 15],
    ["6011", 16],
    ["3530", 16],
    ["62", 19],
    ["36", 14],
  )
  .chain(([prefix, length]) =>
    digits(Number(length) - 1 - String(prefix).length).map((rest) => withLuhnDigit(`${prefix}${rest}`)),
  );

const forms: readonly ((number: string) => string)[] = [
  (number) => number,
  (number) => number.replace(/\d{4}(?=\d)/g, "$& "),
  (number) => number.replace(/\d{4}(?=\d)/g, "$&-"),
  (number) => number.replace(/\d{4}(?=\d)/g, "$&\u00a0"),
  (number) => [...number].map((c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).join(""),
  (number) => ` ${number} `,
];

/** Card numbers with other separators, or in texts that were meant for something else. */
const strays: readonly ((number: string) => string)[] = [
  ...["/", "_", ",", "\t", "  ", " - ", "\u200b", "\u2212"].map(
    (mark) => (number: string) => number.replace(/\d{4}(?=\d)/g, `$&${mark}`),
  ),
  (number) => `my card is ${number}, and it will be good until the end of the year after next`,
  (number) => `${"A".repeat(60)}${number}`,
  (number) => number.replace(/\d{4}(?=\d)/g, `$&${" ".repeat(40)}`),
  ...[0x1d79e, 0x630].map(
    (shift) => (number: string) =>
      [...number].map((c) => String.fromCodePoint(c.charCodeAt(0) + shift)).join(""),
  ),
  (number) => [...number].map((c) => "⓪①②③④⑤⑥⑦⑧⑨".charAt(Number(c))).join(""),
  (number) => [...number].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(c))).join(""),
];

/** Returns a number in the groups in which cards have it printed. */
const printed = (number: string) =>
  number.length < 16 ? number.replace(/^(\d{4})(\d{6})/, "$1 $2 ") : number.replace(/\d{4}(?=\d)/g, "$& ");

/** Card numbers beside other digits: expiry dates, codes, other cards. */
const besideDigits: readonly ((number: string) => string)[] = [
  (number) => `${number} 123`,
  (number) => `${number} 1227`,
  (number) => `${printed(number)} 12/27`,
  (number) => `${printed(number)}     12     27 . 123`,
  (number) => `${number}/12/2027`,
  (number) => `1234 ${number}`,
  (number) => `12/27 ${printed(number)}`,
  (number) => `${number},4111111111111111`,
];

/** Texts that are no valid form of a card number, and contain one. */
const disguises: readonly ((number: string) => string)[] = [
  (number) => `${number}x`,
  (number) => `card ${number}`,
  (number) => `${number} 12/29 123`,
  (number) => number.replace(/\d{4}(?=\d)/g, "$&,"),
  (number) => `\ud800${number}\0`,
  (number) => `${"x".repeat(80)}${number}`,
  (number) => `${number}${"9".repeat(80)}`,
  // Longer than any value that is read.
  (number) => `${"x".repeat(400)}${printed(number)}`,
  (number) => `${number}${" x1".repeat(200)}`,
  (number) => `${"1 4 ".repeat(100)}${number.replace(/\d{4}(?=\d)/g, "$& ")}`,
  (number) => `${"é".repeat(400)}${[...number].join(" ")}x`,
  (number) => `${"x ".repeat(400)}${[...number].join("/")}`,
];

function expectHidden(result: unknown, number: string): void {
  // Folded and without separators, so that the search finds it in any form.
  const text = JSON.stringify(result)
    .normalize("NFKC")
    .replace(/\\t|[^\p{L}\p{N}]/gu, "");
  expect([number, text.includes(number)]).toEqual([number, false]);
}

describe("a card number", () => {
  test("is masked to its first six and last four digits, valid or not", () => {
    fc.assert(
      fc.property(
        numbers,
        fc.constantFrom(...forms),
        fc.integer({ min: 0, max: 9 }),
        (number, write, shift) => {
          const last = (Number(number.slice(-1)) + shift) % 10;
          const given = number.slice(0, -1) + last;
          const result = validateDocument("card", write(given));
          const masked = `${given.slice(0, 6)}${"*".repeat(given.length - 10)}${given.slice(-4)}`;
          expect([result.value, result.normalized, result.formatted]).toEqual([masked, masked, masked]);
          expect(result.valid).toBe(shift === 0);
          expectHidden(result, given);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("is masked in texts that are no valid form of one", () => {
    fc.assert(
      fc.property(numbers, fc.constantFrom(...disguises), (number, disguise) => {
        const result = validateDocument("card", disguise(number));
        expect(result.valid).toBe(false);
        expectHidden(result, number);
        expectHidden(checkFailed("card", disguise(number)), number);
        expectHidden(checkFailed(null, disguise(number)), number);
      }),
      { numRuns: 1_000 },
    );
  });

  test("is masked where another type is requested", () => {
    fc.assert(
      fc.property(
        numbers,
        fc.constantFrom(...forms, ...strays),
        fc.constantFrom(...DOCUMENT_TYPES),
        (number, write, type) => {
          fc.pre(!(number.length === 14 && type === "cnpj"));
          expectHidden(validateDocument(type, write(number)), number);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("is masked beside other digits, and so are these", () => {
    fc.assert(
      fc.property(
        numbers,
        fc.constantFrom(...besideDigits),
        fc.constantFrom(...DOCUMENT_TYPES.filter((type) => type !== "card")),
        (number, write, type) => {
          const { value, normalized, formatted, details } = validateDocument(type, write(number));
          expect([value, normalized, formatted]).toEqual([write(number).replace(/\d/g, "*"), null, null]);
          expect(JSON.stringify(Object.values(details))).not.toMatch(/\d/);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("is masked in autodetection, valid, mistyped or disguised", () => {
    fc.assert(
      fc.property(
        numbers,
        fc.integer({ min: 0, max: 9 }),
        fc.constantFrom(...forms, ...disguises),
        (n, shift, write) => {
          const given = n.slice(0, -1) + ((Number(n.slice(-1)) + shift) % 10);
          const result = autodetect(write(given));
          // One number of 14 digits in a hundred is a valid CNPJ, too, and is returned as one.
          if (result.detected !== "cnpj" || !result.valid) expectHidden(result, given);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("is masked behind a country's letters, in an IBAN that is invalid", () => {
    for (const value of ["GB4242424242424242", "MY42 4242 4242 4242 42", "ZZ4242424242424242"]) {
      expectHidden(autodetect(value), "4242424242424242");
      expectHidden(validateDocument("iban", value), "4242424242424242");
    }
  });
});

test("an IBAN or a VAT number with letters is not masked for a card number in some of its groups", () => {
  for (const value of ["DE12 4242 4242 4242 4242 00", "DE12 4242424242424242 123"]) {
    expect(validateDocument("iban", value).value).toBe(value);
    expect(validateDocument("vat", value).value).toBe(value);
  }
});

test("a text of any length is searched in linear time", () => {
  for (const text of ["4242 ".repeat(100_000), `1${" ".repeat(500_000)}`, "1 ".repeat(250_000)]) {
    expect(withoutCardNumber(text).length).toBe(text.length);
  }
}, 5_000);

test("a value without a card number is returned as given", () => {
  expect(validateDocument("card", "4242").value).toBe("4242");
  expect(autodetect("5901234123457").value).toBe("5901234123457");
  expect(autodetect("DE88 3704 0044 0532 0130 00").value).toBe("DE88 3704 0044 0532 0130 00");
  expect(validateDocument("iban", "DE893704004405320130").value).toBe("DE893704004405320130");
  const long = "Order 66 of May 4, ".repeat(4);
  expect(validateDocument("card", "x".repeat(70)).value).toBe("x".repeat(70));
  expect(validateDocument("iban", long).value).toBe(long);
  expect(autodetect("x".repeat(10_000)).value).toBe("x".repeat(10_000));
});

test("a card number with missing digits is masked to its first six and last four", () => {
  fc.assert(
    fc.property(digits(11), fc.constantFrom(...forms), (number, write) => {
      const masked = `${number.slice(0, 6)}*${number.slice(-4)}`;
      const result = validateDocument("card", write(number));
      expect(result).toMatchObject({ value: masked, normalized: masked, reason: "length" });
      expect(checkFailed("card", write(number)).value).toBe(masked);
    }),
  );
  const starred = "****x*******";
  expect(validateDocument("card", "4242x4242424")).toMatchObject({ value: starred, reason: "format" });
});

test("ten digits are not masked, and eleven only where a card is requested", () => {
  expect(validateDocument("card", "4242424242").value).toBe("4242424242");
  expect(validateDocument("cpf", "11144477734").value).toBe("11144477734");
  expect(autodetect("42424242424").value).toBe("42424242424");
});
