import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DOCUMENT_TYPES, type DocumentType } from "../../../src/contract/words.ts";
import { ByteWriter } from "../../../src/platform/byte-writer.ts";
import type { IdentityResult } from "../../../src/verification/documents/outcome.ts";
import { checkFailed, validateDocument } from "../../../src/verification/documents/registry.ts";
import { writeOutcome } from "../../../src/verification/documents/written-outcome.ts";
import { readDocumentVectors } from "../../support/documents-vectors.ts";

const writer = new ByteWriter();

function written(result: IdentityResult): string {
  writer.begin();
  writeOutcome(result, writer);
  return new TextDecoder().decode(writer.end());
}

async function vectorsOf(type: DocumentType): Promise<string[]> {
  const rows = await Promise.all(
    ["valid", "invalid"].map((kind) => readDocumentVectors(`${type}.${kind}.txt`)),
  );
  return rows.flat().map(([value = ""]) => value);
}

describe("a serialised result", () => {
  test("equals JSON.stringify for every vector as every type", async () => {
    const values = (await Promise.all(DOCUMENT_TYPES.map(vectorsOf))).flat();
    expect(values.length).toBeGreaterThan(700);
    for (const type of DOCUMENT_TYPES) {
      for (const value of values) {
        const result = validateDocument(type, value);
        expect(written(result)).toBe(JSON.stringify(result));
      }
    }
  });

  test("equals JSON.stringify for any text, and for a failed check", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[A-Z0-9 .\-"\\]{0,30}$/));
    fc.assert(
      fc.property(fc.constantFrom(...DOCUMENT_TYPES), text, (type, value) => {
        for (const result of [validateDocument(type, value), checkFailed(type, value)])
          expect(written(result)).toBe(JSON.stringify(result));
      }),
      { numRuns: 2000 },
    );
  });
});
