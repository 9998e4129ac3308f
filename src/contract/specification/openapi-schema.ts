import { KindGuard, type TSchema } from "@sinclair/typebox";

/** A piece of an OpenAPI document. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [name: string]: Json };

/** Refers to a schema with a name; writes out one without. */
export function schemaRef(schema: TSchema): JsonObject {
  return schema.$id === undefined ? written(schema) : { $ref: `#/components/schemas/${schema.$id}` };
}

/** Returns every named schema within these, by name. */
export function namedSchemas(
  roots: readonly TSchema[],
  write: (schema: TSchema) => JsonObject = written,
): { readonly [name: string]: JsonObject } {
  const named = new Map<string, JsonObject>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (KindGuard.IsSchema(value) && value.$id !== undefined) {
      if (named.has(value.$id)) return;
      named.set(value.$id, write(value));
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(roots);
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Writes a schema of what callers send: a field that may be left out may as well be null. Without `default`, which makes
 * typed clients demand the field.
 */
export function writtenRequest(schema: TSchema): JsonObject {
  const out = written(schema);
  const properties = Object.entries(out.properties ?? {}) as [string, JsonObject][];
  const required: readonly string[] = schema.required ?? [];
  const fields = properties.map(([name, property]) => [
    name,
    required.includes(name) ? property : withNull(withoutDefault(property)),
  ]);
  return { ...out, properties: Object.fromEntries(fields) };
}

function withoutDefault({ default: _, ...schema }: JsonObject): JsonObject {
  return schema;
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema;
  if (typeof type !== "string") return schema;
  return { ...schema, type: [type, "null"], ...(Array.isArray(words) ? { enum: [...words, null] } : {}) };
}

/** Writes a schema of a parameter in the query, where a flag is a word or a digit in any case. */
export function writtenParameter(schema: TSchema): JsonObject {
  if (schema.type !== "boolean") return schemaRef(schema);
  const { type, ...rest } = written(schema);
  return { ...rest, anyOf: [{ type: "boolean" }, { type: "string", pattern: FLAG_PATTERN }] };
}

const FLAG_PATTERN = "^(?:[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[01])$";

/** A schema in the words of OpenAPI 3.1, without its own name and with references to the named ones inside. */
function written(schema: TSchema): JsonObject {
  const { $id: _, demand: __, ...words } = schema;
  const out: { [name: string]: Json } = {};
  for (const [word, value] of Object.entries(words)) out[word] = rewritten(value);
  // The pattern of a word list says again what the list says.
  if (out.enum !== undefined) delete out.pattern;
  return withNullAsType(out);
}

function rewritten(value: unknown): Json {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== "object" || value === null) return value as Json;
  if (KindGuard.IsSchema(value)) return schemaRef(value);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rewritten(inner)]));
}

/** `anyOf: [X, null]` reads and renders better as X whose type is also null. */
function withNullAsType(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as readonly JsonObject[];
  if (first === undefined || second?.type !== "null" || typeof first.type !== "string") return schema;
  const { type, enum: words, ...inner } = first;
  return {
    ...inner,
    ...rest,
    type: [type, "null"],
    ...(Array.isArray(words) ? { enum: [...words, null] } : {}),
  };
}
