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

function expectPassAndCatch(
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

/** Remainders 0 and 1 are both written 0, so the two cannot be distinguished: only other digits promise anything. */
const isTelling = (number: string) => number.at(-2) !== "0";
const isVaried = (text: string) => new Set(text).size > 1;

describe("one changed digit is caught, and what is right passes", () => {
  const cpfs = digits(9)
    .filter(isVaried)
    .map((payload) => withBrazilianDigits(payload, 12))
    .filter(isTelling);
  const cnpjs = fc
    .oneof(digits(12), alphanumerics(12))
    .filter(isVaried)
    .map((payload) => withBrazilianDigits(payload, 9))
    .filter(isTelling);
  // Starting with 9 no brand asks for a length of its own, but for Troy's 9792.
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

  test("cpf", () => expectPassAndCatch("cpf", cpfs, changedDigit));
  test("cnpj, with letters too", () => expectPassAndCatch("cnpj", cnpjs, changedDigit));
  test("card of any length", () => expectPassAndCatch("card", cards, changedDigit));
  test("card of a brand", () => expectPassAndCatch("card", visas, changedDigit));
  test("ean13", () => expectPassAndCatch("ean13", eans, changedDigit));
  test("isbn of thirteen digits", () => expectPassAndCatch("isbn", isbn13s, changedDigit));
  test("isbn of ten digits", () => expectPassAndCatch("isbn", isbn10s, changedDigit));

  test("two neighbours swapped are caught in ISBN-10, whose modulus is prime", () =>
    expectPassAndCatch("isbn", isbn10s, (number) =>
      swapped(number).filter((text) => !text.slice(0, -1).includes("X")),
    ));

  test("two neighbours swapped are caught by Luhn, but for 09 and 90", () =>
    expectPassAndCatch("card", visas, (number) => {
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

  test("one changed digit is caught in every country, and what is right passes", () =>
    expectPassAndCatch("iban", ibans, changedDigit));

  test("two digits or two letters swapped are caught, where they are neighbours", () => {
    const isLetter = (text: string, i: number) => text.charAt(i) > "9";
    const isKindKept = (number: string, text: string) =>
      [...text].every((_, i) => isLetter(text, i) === isLetter(number, i));
    expectPassAndCatch("iban", ibans, (number) =>
      swapped(number, 4).map((text) => (isKindKept(number, text) ? text : number)),
    );
  });

  describe("a national key that is only congruent to the right one is refused", () => {
    const mod97Keys = ["PT", "SI", "ME", "RS", "BA", "MK", "TL"].map((code) => [code, 98, 1] as const);
    const ribKeys = ["FR", "MC", "MR", "TN"].map((code) => [code, 97, 0] as const);

    test.each([...mod97Keys, ...ribKeys])("%s", (code, keyMax, remainder) => {
      const structure = ibanCountries.find((country) => country.code === code)?.structure.slice(5) ?? "";
      const keys = Array.from({ length: 100 }, (_, key) => String(key).padStart(2, "0"));
      fc.assert(
        fc.property(bbanOf(structure), (text) => {
          // Digits alone, because French letters count otherwise than in the whole number's check digits.
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

  test("the check digits expected are the ones that pass", () => {
    const anyIban = fc
      .constantFrom(...ibanCountries)
      .chain(({ code, structure }) =>
        fc.tuple(digits(2), bbanOf(structure.slice(5))).map(([c, b]) => code + c + b),
      );
    fc.assert(
      fc.property(anyIban, (number) => {
        const result = validateDocument("iban", number);
        if (result.type !== "iban") throw new Error("another type answered");
        const { expected_check_digits, bban } = result.details;
        const repaired = validateDocument("iban", `${number.slice(0, 2)}${expected_check_digits}${bban}`);
        expect(repaired.reason === null || repaired.reason === "component").toBe(true);
        if (!result.valid && result.reason === "checksum")
          expect(result.message).toContain(expected_check_digits ?? "?");
      }),
      runs,
    );
  });

  test("mod97 counts as long integers do", () => {
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
  /** Where no two remainders are written alike and one rule alone decides. */
  const promising: Readonly<Record<string, readonly [length: number, checkDigits: number]>> = {
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

  /** The number with the check digits that pass, found by trying, or null where there are none. */
  function completed(prefix: string, payload: string, checkDigits: number): string | null {
    for (let check = 0; check < 10 ** checkDigits; check++) {
      const number = prefix + payload + String(check).padStart(checkDigits, "0");
      if (validateDocument("vat", number).valid) return number;
    }
    return null;
  }

  for (const [prefix, [length, checkDigits]] of Object.entries(promising)) {
    test(`${prefix}: one changed digit is caught`, () => {
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

  test("catches every changed digit", () => {
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
