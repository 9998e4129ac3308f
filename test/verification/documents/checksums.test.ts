import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DocumentType } from "../../../src/contract/words.ts";
import {
  holdsMod11And10,
  mod11And10CheckDigit,
} from "../../../src/verification/documents/checksums/iso7064.ts";
import { mod97 } from "../../../src/verification/documents/checksums/mod97.ts";
import { ibanCountries } from "../../../src/verification/documents/iban-country.ts";
import { validateDocument } from "../../../src/verification/documents/registry.ts";
import {
  alphanumerics,
  bbanOf,
  changedDigit,
  digits,
  ibanOf,
  swapped,
  withBrazilianDigits,
  withGs1Digit,
  withIsbn10Digit,
  withLuhnDigit,
} from "../../support/documents-generators.ts";

const runs = { numRuns: 1_500 };

function expectDetection(
  type: DocumentType,
  numbers: fc.Arbitrary<string>,
  broken: (number: string) => fc.Arbitrary<string>,
): void {
  const pairs = numbers.chain((number) => fc.tuple(fc.constant(number), broken(number)));
  fc.assert(
    fc.property(pairs, ([number, damaged]) => {
      expect([number, validateDocument(type, number).reason]).toEqual([number, null]);
      if (damaged !== number)
        expect([damaged, validateDocument(type, damaged).valid]).toEqual([damaged, false]);
    }),
    runs,
  );
}

/** Remainders 0 and 1 both have the check digit 0: a changed digit that turns one into the other is not detected. */
const isUnambiguous = (number: string) => number.at(-2) !== "0";
const isVaried = (text: string) => new Set(text).size > 1;

describe("one changed digit is detected, and valid numbers pass", () => {
  const cpfs = digits(9)
    .filter(isVaried)
    .map((payload) => withBrazilianDigits(payload, 12))
    .filter(isUnambiguous);
  const cnpjs = fc
    .oneof(digits(12), alphanumerics(12))
    .filter(isVaried)
    .map((payload) => withBrazilianDigits(payload, 9))
    .filter(isUnambiguous);
  // No brand with numbers from 9 on has lengths of its own, except Troy with 9792.
  const cards = fc
    .integer({ min: 10, max: 17 })
    .chain(digits)
    .filter((rest) => !rest.startsWith("792"))
    .map((rest) => withLuhnDigit(`9${rest}`));
  const visas = digits(14).map((rest) => withLuhnDigit(`4${rest}`));
  const eans = digits(12).map(withGs1Digit);
  const isbn13s = fc
    .tuple(fc.constantFrom("9780", "9783", "97910"), digits(9))
    .map(([prefix, rest]) => withGs1Digit(`${prefix}${rest}`.slice(0, 12)));
  const isbn10s = fc
    .tuple(fc.constantFrom("0", "1", "2", "3", "4", "5", "7"), digits(8))
    .map(([group, rest]) => withIsbn10Digit(group + rest));

  test("cpf", () => expectDetection("cpf", cpfs, changedDigit));
  test("cnpj, with letters too", () => expectDetection("cnpj", cnpjs, changedDigit));
  test("card of any length", () => expectDetection("card", cards, changedDigit));
  test("card of a brand", () => expectDetection("card", visas, changedDigit));
  test("ean13", () => expectDetection("ean13", eans, changedDigit));
  test("isbn of thirteen digits", () => expectDetection("isbn", isbn13s, changedDigit));
  test("isbn of ten digits", () => expectDetection("isbn", isbn10s, changedDigit));

  test("two swapped neighbours are detected in ISBN-10, whose modulus is prime", () =>
    expectDetection("isbn", isbn10s, (number) =>
      swapped(number).filter((text) => !text.slice(0, -1).includes("X")),
    ));

  test("two swapped neighbours are detected by Luhn, except 09 and 90", () =>
    expectDetection("card", visas, (number) => {
      const isBlind = (text: string) =>
        [...text].some((c, i) => c !== number.charAt(i) && [c, text.charAt(i + 1)].sort().join("") === "09");
      return swapped(number, 1).map((text) => (isBlind(text) ? number : text));
    }));
});

describe("iban", () => {
  const uncheckedCountries = ibanCountries.filter(({ nationalRule }) => nationalRule === null);
  const ibans = fc
    .constantFrom(...uncheckedCountries)
    .chain(({ code, structure }) => bbanOf(structure.slice(5)).map((bban) => ibanOf(code, bban)));

  test("one changed digit is detected in every country, and valid numbers pass", () =>
    expectDetection("iban", ibans, changedDigit));

  test("two swapped neighbours are detected, if both are digits or both letters", () => {
    const isLetter = (text: string, i: number) => text.charAt(i) > "9";
    const isKindKept = (number: string, text: string) =>
      [...text].every((_, i) => isLetter(text, i) === isLetter(number, i));
    expectDetection("iban", ibans, (number) =>
      swapped(number, 4).map((text) => (isKindKept(number, text) ? text : number)),
    );
  });

  describe("a national key that is merely congruent to the valid one is refused", () => {
    const mod97Keys = ["PT", "SI", "ME", "RS", "BA", "MK", "TL"].map((code) => [code, 98, 1] as const);
    const ribKeys = ["FR", "MC", "MR", "TN"].map((code) => [code, 97, 0] as const);

    test.each([...mod97Keys, ...ribKeys])("%s", (code, keyMax, remainder) => {
      const structure = ibanCountries.find((country) => country.code === code)?.structure.slice(5) ?? "";
      const keys = Array.from({ length: 100 }, (_, key) => String(key).padStart(2, "0"));
      fc.assert(
        fc.property(bbanOf(structure), (text) => {
          // Digits alone, because letters have other values in a French account than in an IBAN's check digits.
          const account = text.slice(0, -2).replace(/[A-Z]/g, "7");
          const congruent = keys.filter((key) => Number(BigInt(account + key) % 97n) === remainder);
          const [right] = congruent.filter((key) => Number(key) > keyMax - 97 && Number(key) <= keyMax);
          for (const key of congruent) {
            const { reason } = validateDocument("iban", ibanOf(code, account + key));
            expect([account + key, reason]).toEqual([account + key, key === right ? null : "component"]);
          }
        }),
        { numRuns: 300 },
      );
    });
  });

  test("the expected check digits are those that pass", () => {
    const anyIban = fc
      .constantFrom(...ibanCountries)
      .chain(({ code, structure }) =>
        fc.tuple(digits(2), bbanOf(structure.slice(5))).map(([c, b]) => code + c + b),
      );
    fc.assert(
      fc.property(anyIban, (number) => {
        const result = validateDocument("iban", number);
        if (result.type !== "iban") throw new Error("the result is of another type");
        const { expected_check_digits, bban } = result.details;
        const repaired = validateDocument("iban", `${number.slice(0, 2)}${expected_check_digits}${bban}`);
        expect(repaired.reason === null || repaired.reason === "component").toBe(true);
        if (!result.valid && result.reason === "checksum")
          expect(result.message).toContain(expected_check_digits ?? "?");
      }),
      runs,
    );
  });

  test("mod97 agrees with BigInt", () => {
    fc.assert(
      fc.property(alphanumerics(34), (text) => {
        const spelled = [...text].map((c) => Number.parseInt(c, 36)).join("");
        expect(mod97(text)).toBe(Number(BigInt(spelled) % 97n));
        expect(mod97(text, 9, 34, mod97(text, 0, 9))).toBe(mod97(text));
      }),
    );
  });
});

describe("vat", () => {
  /** Prefixes with a check digit of its own for every remainder, and a single rule. */
  const unambiguous: Readonly<Record<string, readonly [length: number, checkDigits: number]>> = {
    BE: [10, 2],
    DE: [9, 1],
    DK: [8, 1],
    EE: [9, 1],
    FI: [8, 1],
    HR: [11, 1],
    HU: [8, 1],
    IT: [11, 1],
    LU: [8, 2],
    MT: [8, 2],
    NO: [9, 1],
    PL: [10, 1],
    RS: [9, 1],
    SI: [8, 1],
    SK: [10, 1],
    CHE: [9, 1],
  };

  /** Returns the number with the check digits that pass, found by trial, or null where there are none. */
  function completed(prefix: string, payload: string, checkDigits: number): string | null {
    for (let check = 0; check < 10 ** checkDigits; check++) {
      const number = prefix + payload + String(check).padStart(checkDigits, "0");
      if (validateDocument("vat", number).valid) return number;
    }
    return null;
  }

  for (const [prefix, [length, checkDigits]] of Object.entries(unambiguous)) {
    test(`${prefix}: one changed digit is detected`, () => {
      const numbers = digits(length - checkDigits)
        .map((payload) => completed(prefix, prefix === "BE" ? `0${payload.slice(1)}` : payload, checkDigits))
        .filter((number) => number !== null);
      const pairs = numbers.chain((number) => fc.tuple(fc.constant(number), changedDigit(number)));
      fc.assert(
        fc.property(pairs, ([, damaged]) => {
          expect([damaged, validateDocument("vat", damaged).valid]).toEqual([damaged, false]);
        }),
        { numRuns: 200 },
      );
    });
  }
});

describe("ISO 7064 MOD 11,10", () => {
  const numbers = digits(10).map((payload) => `${payload}${mod11And10CheckDigit(payload, 0, 10)}`);

  test("detects every changed digit", () => {
    const pairs = numbers.chain((number) => fc.tuple(fc.constant(number), changedDigit(number)));
    fc.assert(
      fc.property(pairs, ([number, damaged]) => {
        expect(holdsMod11And10(number)).toBe(true);
        expect(holdsMod11And10(damaged)).toBe(false);
      }),
      runs,
    );
  });
});
