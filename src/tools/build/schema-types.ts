import type { TSchema } from "@sinclair/typebox";

/**
 * Writes schemas as exported TypeScript types that need no library: one for each of the names, and one for each schema
 * with an `$id` that they refer to. Throws where a schema is of a kind that it does not know.
 */
export function typesOf(schemas: { readonly [name: string]: TSchema }): string {
  const names = new Map<string, string>();
  const waiting: [name: string, schema: TSchema][] = [];
  const enter = (name: string, schema: TSchema): string => {
    if (schema.$id !== undefined) names.set(schema.$id, name);
    waiting.push([name, schema]);
    return name;
  };
  for (const [name, schema] of Object.entries(schemas)) enter(name, schema);
  const typeOf = (schema: TSchema): string => {
    if (schema.$id === undefined) return written(schema, typeOf);
    return names.get(schema.$id) ?? enter(schema.$id, schema);
  };
  const lines: string[] = [];
  for (const [name, schema] of waiting) lines.push(`export type ${name} = ${written(schema, typeOf)};\n`);
  return lines.join("\n");
}

function written(schema: TSchema, typeOf: (schema: TSchema) => string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map((word: unknown) => JSON.stringify(word)));
  if (Array.isArray(schema.anyOf)) return union(schema.anyOf.map(typeOf));
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => `(${typeOf(part)})`).join(" & ");
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type: string) => written({ ...schema, type }, typeOf)));
  }
  switch (schema.type) {
    case "null":
    case "boolean":
    case "string":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly (${typeOf(schema.items)})[]`;
    case "object":
      return fields(schema, typeOf);
    default:
      throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  }
}

function union(types: readonly string[]): string {
  return types.map((type) => (type.includes(" & ") ? `(${type})` : type)).join(" | ");
}

function fields(schema: TSchema, typeOf: (schema: TSchema) => string): string {
  const required: readonly string[] = schema.required ?? [];
  const lines = Object.entries<TSchema>(schema.properties ?? {}).map(([name, field]) => {
    const comment = field.description === undefined ? "" : `/** ${field.description} */ `;
    return `  ${comment}readonly ${name}${required.includes(name) ? "" : "?"}: ${typeOf(field)};`;
  });
  return lines.length === 0 ? "{ readonly [name: string]: never }" : `{\n${lines.join("\n")}\n}`;
}
