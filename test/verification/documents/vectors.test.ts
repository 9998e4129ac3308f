import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DOCUMENT_TYPES } from "../../../src/contract/words.ts";
import { documents } from "../../../src/verification/documents/all-documents.ts";
import { autodetect } from "../../../src/verification/documents/autodetect.ts";
import { validateDocument } from "../../../src/verification/documents/registry.ts";
import { changedDigit, digits, withGs1Digit } from "../../support/documents-generators.ts";
import { readDocumentVectors } from "../../support/documents-vectors.ts";

for (const type of DOCUMENT_TYPES) {
  const valid = await readDocumentVectors(`${type}.valid.txt`);
  const invalid = await readDocumentVectors(`${type}.invalid.txt`);

  describe(type, () => {
    test.each(valid)("accepts %p", (value) => {
      const result = validateDocument(type, value);
      expect([result.valid, result.reason, result.message]).toEqual([true, null, null]);
      expect(result.normalized).not.toBeNull();
      expect(result.formatted).not.toBeNull();
    });

    test.each(invalid)("refuses %p for its %s", (value, reason) => {
      const result = validateDocument(type, value);
      expect([result.valid, result.reason as string | null]).toEqual([false, reason ?? ""]);
      expect(result.message).toMatch(/^[A-Z0-9].*\.$/);
    });

    // The forms of a card number are masked, so they cannot be read again.
    if (type === "card") {
      test("has the masked number as its normalized form", () => {
        for (const [value = ""] of valid) {
          const digits = value.normalize("NFKC").replace(/\D/g, "");
          const masked = `${digits.slice(0, 6)}${"*".repeat(digits.length - 10)}${digits.slice(-4)}`;
          expect([value, validateDocument(type, value).normalized]).toEqual([value, masked]);
        }
      });
      return;
    }

    test("reads its own normalized and formatted forms as the same number", () => {
      for (const [value = ""] of valid) {
        const { normalized, formatted } = validateDocument(type, value);
        for (const form of [normalized, formatted]) {
          const again = validateDocument(type, form ?? "");
          expect([again.valid, again.normalized, again.formatted]).toEqual([true, normalized, formatted]);
        }
        expect(documents[type].format(normalized ?? "")).toBe(formatted ?? "");
      }
    });
  });
}

const detections = await readDocumentVectors("autodetect.txt");

describe("autodetect", () => {
  test.each(detections)("detects %p as %s: %s", (value, type, verdict) => {
    const result = autodetect(value);
    const outcome = result.reason ?? (result.valid ? "valid" : "-");
    expect([result.detected ?? "-", outcome]).toEqual([type ?? "", verdict ?? ""] as never);
    expect(result.type).toBe(result.detected);
  });

  test("detects an ISBN with one wrong digit as an invalid ISBN, whatever its Luhn sum", () => {
    const hyphenated = (isbn: string) => `978-3-${isbn.slice(4, 6)}-${isbn.slice(6, 12)}-${isbn.slice(12)}`;
    const wrong = digits(8)
      .map((rest) => withGs1Digit(`9783${rest}`))
      .chain((isbn) => changedDigit(isbn).filter((text) => text.startsWith("9783")));
    fc.assert(
      fc.property(wrong, fc.boolean(), (isbn, isBare) => {
        const { detected, reason } = autodetect(isBare ? isbn : hyphenated(isbn));
        expect([isbn, detected, reason]).toEqual([isbn, "isbn", "checksum"]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("has VAT as a candidate for a bare number where it is valid behind a prefix of Europe, and only there", () => {
    const prefixes =
      "AT BE BG CHE CY CZ DE DK EE EL ES FI FR GB HR HU IE IT LT LU LV MT NL NO PL PT RO SE SI SK XI";
    const isValidBehind = (number: string) => (prefix: string) => {
      const { valid, warnings } = validateDocument("vat", prefix + number);
      return valid && !warnings.includes("legacy_length");
    };
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 12 }).chain(digits), (number) => {
        const isCandidate = autodetect(number).candidates.some(({ type }) => type === "vat");
        expect([number, isCandidate]).toEqual([number, prefixes.split(" ").some(isValidBehind(number))]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("has null in every field where no type fits", () => {
    expect(autodetect("not a document")).toEqual({
      type: null,
      value: "not a document",
      valid: false,
      reason: null,
      message: null,
      normalized: null,
      formatted: null,
      country: null,
      strength: null,
      warnings: [],
      data_version: null,
      details: null,
      detected: null,
      confidence: 0,
      candidates: [],
    });
  });
});
