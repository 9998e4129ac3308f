import { isObject } from "../platform/json-value.ts";

const STEPS_MAX = 2000;
const DEPTH_MAX = 64;

/**
 * Returns the first violation of a JSON Schema, as a path with the keyword; null without one. Supports `type`, `const`,
 * `enum`, `required`, `properties`, `additionalProperties` and `items`: patterns of the target are not run, and its
 * references not followed. Visits at most 2,000 places.
 */
export function schemaFault(value: unknown, schema: unknown): string | null {
  const left = { steps: STEPS_MAX };
  return faultAt(value, schema, "", left, DEPTH_MAX);
}

type Left = { steps: number };

function faultAt(value: unknown, schema: unknown, path: string, left: Left, depth: number): string | null {
  left.steps -= 1;
  if (left.steps < 0 || depth === 0) return null;
  if (schema === false) return `info${path} is not allowed`;
  if (!isObject(schema)) return null;
  const keyword = ownFault(value, schema);
  if (keyword !== null) return `${path === "" ? "info" : `info${path}`} does not fit ${keyword}`;
  const inside = (part: unknown, of: unknown, name: string) =>
    faultAt(part, of, `${path}.${name.slice(0, 40)}`, left, depth - 1);
  if (Array.isArray(value)) return firstFault(value, (item, at) => inside(item, schema.items, `${at}`));
  if (!isObject(value)) return null;
  const properties = isObject(schema.properties) ? schema.properties : {};
  return firstFault(Object.entries(value), ([name, part]) =>
    inside(part, Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties, name),
  );
}

function firstFault<Part>(
  parts: readonly Part[],
  find: (part: Part, at: number) => string | null,
): string | null {
  for (const [at, part] of parts.entries()) {
    const fault = find(part, at);
    if (fault !== null) return fault;
  }
  return null;
}

/** Returns the keyword that a value itself violates, or null. */
function ownFault(value: unknown, schema: { readonly [name: string]: unknown }): string | null {
  const { type, required } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");
  if (types.length > 0 && !types.some((name) => isOfType(value, name))) return "type";
  if ("const" in schema && !isSame(value, schema.const)) return "const";
  if (Array.isArray(schema.enum) && !schema.enum.some((one) => isSame(value, one))) return "enum";
  const names = Array.isArray(required) && isObject(value) ? required : [];
  const missing = names.find((name) => typeof name === "string" && !Object.hasOwn(Object(value), name));
  return missing === undefined ? null : `required: ${String(missing).slice(0, 60)}`;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  // An unknown type is not checked.
  return ["string", "number", "boolean"].includes(type) ? typeof value === type : true;
}

/** Compares scalars; objects and arrays count as equal. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === "object" && one !== null);
}
