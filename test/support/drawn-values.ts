import fc from "fast-check";
import type { Schema } from "./specification.ts";

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Long enough to pass any limit that a text without one might have, and short enough to be quick. */
const TEXT_UNITS_MAX = 300;

/** Draws values that a schema of the specification allows, its borders often. */
export function drawnFrom(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<JsonValue> {
  const { $ref, enum: words, const: only, anyOf, type } = schema;
  if (typeof $ref === "string") return drawnFrom(resolve($ref), resolve);
  if (Array.isArray(words)) return fc.constantFrom(...(words as JsonValue[]));
  if (only !== undefined) return fc.constant(only as JsonValue);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((inner) => drawnFrom(inner as Schema, resolve)));
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => drawnFrom({ ...schema, type: one as string }, resolve)));
  }
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return drawnInteger(schema);
    case "number":
      return fc.oneof(drawnInteger(schema), fc.double({ ...bounds(schema), noNaN: true, maxExcluded: true }));
    case "string":
      return drawnText(schema);
    case "array":
      return fc.array(drawnFrom((schema.items ?? {}) as Schema, resolve), {
        minLength: (schema.minItems as number | undefined) ?? 0,
        maxLength: Math.min((schema.maxItems as number | undefined) ?? 3, 3),
      });
    case "object":
      return drawnObject(schema, resolve);
    default:
      throw new Error(`Nothing is known of how to draw ${JSON.stringify(schema)}`);
  }
}

function bounds({ minimum = -1000, maximum = 1000 }: Schema): { min: number; max: number } {
  return { min: Number(minimum), max: Number(maximum) };
}

function drawnInteger(schema: Schema): fc.Arbitrary<number> {
  const { min, max } = bounds(schema);
  return fc.oneof(
    fc.constantFrom(Math.ceil(min), Math.floor(max)),
    fc.integer({ min: Math.ceil(min), max: Math.floor(max) }),
  );
}

function drawnText({ pattern, minLength = 0, maxLength }: Schema): fc.Arbitrary<string> {
  const [least, most] = [Number(minLength), maxLength === undefined ? TEXT_UNITS_MAX : Number(maxLength)];
  const fits = (text: string) => [...text].length >= least && [...text].length <= most;
  if (typeof pattern === "string") {
    const expression = new RegExp(pattern);
    const near = fc.stringMatching(expression, { maxLength: Math.min(most, 40) });
    return near.filter((text) => fits(text) && expression.test(text));
  }
  const short = { minLength: least, maxLength: Math.max(least, Math.min(most, 20)) };
  return fc.oneof(
    fc.constantFrom("x".repeat(least), "x".repeat(Math.min(most, TEXT_UNITS_MAX))),
    fc.string(short),
    fc.string({ ...short, unit: "binary" }),
  );
}

function drawnObject(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<JsonValue> {
  const properties = Object.entries((schema.properties ?? {}) as { [name: string]: Schema });
  const fields = Object.fromEntries(properties.map(([name, inner]) => [name, drawnFrom(inner, resolve)]));
  // Fields that the schema does not name are passed over.
  const more = { a_field_of_tomorrow: fc.constantFrom<JsonValue>(null, 1, "x", {}) };
  const drawn: { [name: string]: fc.Arbitrary<JsonValue> } = { ...fields, ...more };
  return fc.record(drawn, { requiredKeys: [...((schema.required as string[] | undefined) ?? [])] });
}
