import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import fc from "fast-check";
import { readItems } from "../../src/batch/body-items.ts";
import type { BatchKind } from "../../src/batch/messages.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { EmailBatchBody, IdentityBatchBody, PhoneBatchBody } from "../../src/contract/result-schemas.ts";
import { createReader } from "../../src/contract/schema.ts";
import { DOCUMENT_TYPES } from "../../src/contract/words.ts";

/** Batch bodies are read in threads, by hand. What is taken and what is said of the rest goes by their schemas. */

const ITEMS_MAX = 1_000;
const SCHEMAS: readonly (readonly [BatchKind, TObject])[] = [
  ["email", EmailBatchBody],
  ["phone", PhoneBatchBody],
  ["identity", IdentityBatchBody],
];

const odd = fc.constantFrom<unknown>(null, 7, true, "", "x", [], {}, ["a"], { value: "1" }, { value: null });
const item = fc.oneof(
  { weight: 6, arbitrary: fc.string() },
  {
    weight: 6,
    arbitrary: fc.record(
      { type: fc.oneof(fc.constantFrom(...DOCUMENT_TYPES), odd), value: fc.oneof(fc.string(), odd) },
      { requiredKeys: [] },
    ),
  },
  odd,
);
const items = (kind: BatchKind) => {
  const usual: fc.Arbitrary<unknown> =
    kind === "identity"
      ? fc.record({ type: fc.constantFrom(...DOCUMENT_TYPES), value: fc.string() })
      : fc.string();
  return fc.oneof(fc.array(usual), fc.array(fc.oneof(usual, usual, usual, item)), odd);
};
const bodies = (kind: BatchKind, schema: TObject) => {
  const [list = "", ...others] = Object.keys(schema.properties);
  const options = Object.fromEntries(
    [...others, "more"].map((name) => [
      name,
      fc.oneof(fc.boolean(), fc.constantFrom("BR", "55", "+55"), odd),
    ]),
  );
  return fc.record({ [list]: items(kind), ...options }, { requiredKeys: [] });
};

/** What the schema says of a body: null where it is taken. */
function saidBySchema(schema: TObject, body: object): string | null {
  try {
    createReader(schema).body(body);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.message;
  }
}

/** A field that may be left out may as well be null, in an item too. */
function withoutNullTypes(body: { readonly [name: string]: unknown }): object {
  const { items: list } = body;
  if (!Array.isArray(list)) return body;
  return {
    ...body,
    items: list.map((each: unknown) => {
      const isNull = typeof each === "object" && each !== null && "type" in each && each.type === null;
      return isNull ? Object.fromEntries(Object.entries(each).filter(([name]) => name !== "type")) : each;
    }),
  };
}

describe("a batch body is taken where its schema takes it, and refused in the schema's words", () => {
  test.each(SCHEMAS)("%s", (kind, schema) => {
    const seen = { taken: 0, refused: new Set<string>() };
    fc.assert(
      fc.property(bodies(kind, schema), (body) => {
        const read = readItems(kind, "json", Buffer.from(JSON.stringify(body)), ITEMS_MAX);
        const { country } = body;
        // The country is checked where the batch is charged, as that of a single check is.
        const checked = typeof country === "string" ? { ...body, country: "BR" } : body;
        const said = saidBySchema(schema, withoutNullTypes(checked));
        expect(read.ok ? null : read.message).toBe(said);
        if (read.ok) {
          seen.taken += 1;
          const [list = ""] = Object.keys(schema.properties);
          expect(read.items.count).toBe((body[list] as readonly unknown[]).length);
        } else seen.refused.add(read.message.replace(/\d+/, "n"));
      }),
      { numRuns: 2_000 },
    );
    // All that a schema can say was seen.
    expect(seen.taken).toBeGreaterThan(100);
    expect(seen.refused.size).toBeGreaterThanOrEqual(kind === "email" ? 5 : 4);
  });

  test("whatever is no object is refused alike by all", () => {
    for (const [kind, schema] of SCHEMAS) {
      for (const body of ["[]", "null", "7", '"x"']) {
        const read = readItems(kind, "json", Buffer.from(body), ITEMS_MAX);
        expect(read).toMatchObject({ ok: false, message: saidBySchema(schema, JSON.parse(body)) });
      }
    }
  });
});
