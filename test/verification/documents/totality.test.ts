import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  DOCUMENT_TYPES,
  IDENTITY_REASONS,
  IDENTITY_STRENGTHS,
  IDENTITY_WARNINGS,
  isDocumentType,
} from "../../../src/contract/words.ts";
import { autodetect } from "../../../src/verification/documents/autodetect.ts";
import type { AutodetectResult, IdentityResult } from "../../../src/verification/documents/outcome.ts";
import { checkFailed, validateDocument } from "../../../src/verification/documents/registry.ts";
import { IDENTITY_FIELDS } from "../../support/result-fields.ts";

function expectWellFormed(result: IdentityResult | AutodetectResult): void {
  // A value of no detected type is not valid, and yet has failed no check.
  const isRefused = !result.valid && !(result.type === null && result.value.length <= 64);
  expect(result.reason !== null).toBe(isRefused);
  expect(result.message !== null).toBe(isRefused);
  if (result.reason !== null) expect(IDENTITY_REASONS).toContain(result.reason);
  if (result.strength !== null) expect(IDENTITY_STRENGTHS).toContain(result.strength);
  for (const warning of result.warnings) expect(IDENTITY_WARNINGS).toContain(warning);
  if (result.country !== null) expect(result.country).toMatch(/^[A-Z]{2}$/);
}

const nasty = [
  "",
  " ",
  "\u00a0",
  "-",
  "\0",
  "\u0000\u0001\u001f\u007f",
  "52998224725\n",
  "\t52998224725",
  "\ud800",
  "\udfff\ud800",
  "4242\ud8004242",
  "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢",
  "५२९९८२२४७२५",
  "߁߂߃߄߅߆߇߈߉",
  "\ufdfa".repeat(64),
  "\ufdfa".repeat(65),
  "1".repeat(64),
  "1".repeat(65),
  "9".repeat(10_000),
  "-".repeat(10_000),
  "\ud83d\ude00".repeat(5_000),
  "e\u0301".repeat(5_000),
  "__proto__",
  "constructor",
  "1e9",
  "-1",
  "0x10",
  "Infinity",
];

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: fc.constantFrom(..."0123456789ABCXYZ .-/–\u00a0４GB"), maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.constantFrom(...nasty),
);

describe("any text", () => {
  test("has a result with every field, in the same order, for every type", () => {
    fc.assert(
      fc.property(fc.constantFrom(...DOCUMENT_TYPES), anyText, (type, value) => {
        const result = validateDocument(type, value);
        expect(Object.keys(result)).toEqual(IDENTITY_FIELDS);
        expect(result.type).toBe(type);
        expectWellFormed(result);
        expect(Object.keys(result.details)).toEqual(Object.keys(checkFailed(type, "").details));
      }),
      { numRuns: 4_000 },
    );
  });

  test("has a result of autodetection, with candidates by descending confidence", () => {
    fc.assert(
      fc.property(anyText, (value) => {
        const result = autodetect(value);
        expect(Object.keys(result)).toEqual([...IDENTITY_FIELDS, "detected", "confidence", "candidates"]);
        expectWellFormed(result);
        expect(result.type).toBe(result.detected);
        const confidences = result.candidates.map(({ confidence }) => confidence);
        expect(confidences).toEqual(confidences.toSorted((a, b) => b - a));
        for (const confidence of [result.confidence, ...confidences]) {
          expect(confidence).toBeGreaterThanOrEqual(0);
          expect(confidence).toBeLessThanOrEqual(1);
        }
        if (result.detected !== null) {
          expect(result.candidates[0]).toEqual({ type: result.detected, confidence: result.confidence });
        }
      }),
      { numRuns: 4_000 },
    );
  });

  test("over 64 characters is refused for its length", () => {
    for (const value of ["1".repeat(65), "\ufdfa".repeat(65), "x".repeat(10_000)]) {
      for (const type of DOCUMENT_TYPES) expect(validateDocument(type, value).reason).toBe("length");
      expect(autodetect(value).reason).toBe("length");
    }
  });

  test("takes less than a millisecond", () => {
    const checks = [...DOCUMENT_TYPES.map((type) => (v: string) => validateDocument(type, v)), autodetect];
    for (const value of nasty) {
      for (const check of checks) {
        // The quickest of several runs, as the machine may be busy.
        let best = Number.POSITIVE_INFINITY;
        for (let i = 0; i < 20; i++) {
          const start = performance.now();
          check(value);
          best = Math.min(best, performance.now() - start);
        }
        expect(best).toBeLessThan(1);
      }
    }
  });

  test("in digits of other scripts is refused for its format, and full-width forms are read", () => {
    for (const type of DOCUMENT_TYPES) {
      expect(validateDocument(type, "٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢").reason).toBe("format");
      expect(validateDocument(type, "१२३४५६७८९").reason).toBe("format");
    }
    expect(validateDocument("cpf", "５２９．９８２．２４７－２５").normalized).toBe("52998224725");
  });
});

describe("a failed check", () => {
  test("has a reason of its own, with each type and without a type", () => {
    for (const type of DOCUMENT_TYPES) {
      const result = checkFailed(type, "1234");
      expect([result.type, result.value, result.valid, result.reason]).toEqual([
        type,
        "1234",
        false,
        "check_failed",
      ]);
      expect(Object.keys(result)).toEqual(IDENTITY_FIELDS);
    }
    const result = checkFailed(null, "1234");
    expect([result.type, result.detected, result.reason, result.confidence]).toEqual([
      null,
      null,
      "check_failed",
      0,
    ]);
  });
});

test("the first eight document types are in this order, and no other text is a type", () => {
  expect(DOCUMENT_TYPES.slice(0, 8)).toEqual(["cpf", "cnpj", "iban", "vat", "card", "isbn", "ean13", "ein"]);
  expect(DOCUMENT_TYPES.every(isDocumentType)).toBe(true);
  for (const text of ["", "CPF", "toString", "__proto__", "ean"]) expect(isDocumentType(text)).toBe(false);
});
