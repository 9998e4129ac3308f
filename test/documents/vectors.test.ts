import { describe, expect, test } from "bun:test";
import { autodetect } from "../../src/documents/autodetect.ts";
import { DOCUMENT_TYPES, documents, validateDocument } from "../../src/documents/registry.ts";
import { readDocumentVectors } from "../support/documents-vectors.ts";

for (const type of DOCUMENT_TYPES) {
  const valid = await readDocumentVectors(`${type}.valid.txt`);
  const invalid = await readDocumentVectors(`${type}.invalid.txt`);

  describe(type, () => {
    test.each(valid)("takes %p", (value) => {
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

    test("reads its own normalized and formatted writing as the same number", () => {
      if (type === "card") return;
      for (const [value = ""] of valid) {
        const { normalized, formatted } = validateDocument(type, value);
        for (const writing of [normalized, formatted]) {
          const again = validateDocument(type, writing ?? "");
          expect([again.valid, again.normalized, again.formatted]).toEqual([true, normalized, formatted]);
        }
        expect(documents[type].format(normalized ?? "")).toBe(formatted ?? "");
      }
    });
  });
}

const detections = await readDocumentVectors("autodetect.txt");

describe("autodetect", () => {
  test.each(detections)("takes %p for %s: %s", (value, type, verdict) => {
    const result = autodetect(value);
    const told = result.reason ?? (result.valid ? "valid" : "-");
    expect([result.detected ?? "-", told]).toEqual([type ?? "", verdict ?? ""] as never);
    expect(result.type).toBe(result.detected);
  });

  test("leaves all null where nothing fits", () => {
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
