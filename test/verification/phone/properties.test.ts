import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PHONE_REASONS, PHONE_TYPES } from "../../../src/contract/words.ts";
import type { PhoneRegion } from "../../../src/verification/phone/phone-number.ts";
import { validatePhone } from "../../../src/verification/phone/validation.ts";
import { readVectors, regionOf } from "./vectors.ts";

const vectors = [...(await readVectors("published.txt")), ...(await readVectors("invalid.txt"))];
const regions: (PhoneRegion | undefined)[] = [
  undefined,
  ...["US", "GB", "BR", "DE", "IT", "RU", "AR", "MX", "JP", "AQ"].map((country) => ({ country })),
  ...["1", "7", "44", "800"].map((callingCode) => ({ callingCode })),
];
const region = fc.constantFrom(...regions);

/** Digits with what people and attackers put between them. */
const phoneLike = fc
  .array(
    fc.constantFrom(
      ..."0123456789",
      ..."0123456789",
      ..."+ -().x;,#/~",
      "tel:",
      ";ext=",
      ";phone-context=",
      " ext ",
      "00",
      "+1",
      "+44",
      "\uff0b",
      "\u202a",
      "\u0663",
      "FLOWERS",
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));
const anyText = fc.oneof(
  phoneLike,
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
);

describe("for any text and region", () => {
  test("the result is complete and consistent", () => {
    fc.assert(
      fc.property(anyText, region, (text, where) => {
        const result = validatePhone(text, where);
        expect(result.phone).toBe(text);
        expect(result.valid).toBe(result.reason === null);
        expect(result.valid).toBe(result.type !== null);
        if (result.reason !== null) expect(PHONE_REASONS).toContain(result.reason);
        if (result.type !== null) expect(PHONE_TYPES).toContain(result.type);
        expect(result.possible).toBe(result.valid || result.reason === "invalid_number");
        for (const form of [result.e164, result.international, result.national, result.rfc3966]) {
          expect(form !== null).toBe(result.possible);
        }
        if (result.e164 !== null)
          expect(result.e164).toBe(`+${result.calling_code}${result.national_number}`);
      }),
      { numRuns: 3000 },
    );
  });

  test("a dash is read like a hyphen", () => {
    const dash = fc.constantFrom("\u2010", "\u2011", "\u2013", "\u2014", "\u2212");
    const hyphened = phoneLike.map((text) => text.replaceAll(" ", "-"));
    const extension = "+1-201-555-0123 ext.-12";
    expect(validatePhone(extension, undefined).extension).toBe("12");
    fc.assert(
      fc.property(fc.oneof(hyphened, fc.constant(extension)), dash, region, (text, mark, at) => {
        const dashed = text.replaceAll("-", mark);
        expect({ ...validatePhone(dashed, at), phone: text }).toEqual(validatePhone(text, at));
      }),
    );
  });

  test("the result does not depend on earlier calls", () => {
    fc.assert(
      fc.property(anyText, anyText, region, region, (text, other, where, elsewhere) => {
        const first = validatePhone(text, where);
        validatePhone(other, elsewhere);
        expect(validatePhone(text, where)).toEqual(first);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the E.164 form of a valid number", () => {
  test("is valid, and is its own E.164 form, in every region", () => {
    for (const [text = "", column = "-"] of vectors) {
      const { valid, e164, country, type } = validatePhone(text, regionOf(column));
      if (!valid || e164 === null) continue;
      for (const where of regions) {
        expect(validatePhone(e164, where)).toMatchObject({ valid, e164, country, type });
      }
    }
  });

  test("is valid for random digits too, like the other written forms", () => {
    const digits = fc.array(fc.constantFrom(..."0123456789"), { minLength: 5, maxLength: 14 });
    let valid = 0;
    fc.assert(
      fc.property(digits, region, fc.constantFrom("", "+"), (parts, where, plus) => {
        const result = validatePhone(plus + parts.join(""), where);
        if (!result.valid) return;
        valid += 1;
        for (const form of [result.e164, result.international, result.rfc3966]) {
          expect(validatePhone(form ?? "", undefined)).toMatchObject({ valid: true, e164: result.e164 });
        }
      }),
      { numRuns: 5000 },
    );
    expect(valid).toBeGreaterThan(100);
  });
});
