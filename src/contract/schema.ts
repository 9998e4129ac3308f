import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { ApiError } from "./errors.ts";
import { readQuery } from "./query-string.ts";

/** Returns what reads the query of an operation and throws `invalid_request`, naming the parameter. */
export function queryReader<Query extends TObject>(operation: {
  readonly operationId: string;
  readonly query?: Query;
}): (url: string) => Static<Query> {
  if (operation.query === undefined) throw new Error(`${operation.operationId} says of no query`);
  return createReader(operation.query).query;
}

/** Returns what checks the parsed JSON body of an operation and throws `invalid_request`, naming the field. */
export function bodyReader<Body extends TObject>(operation: {
  readonly operationId: string;
  readonly body?: { readonly "application/json": Body };
}): (value: unknown) => Static<Body> {
  if (operation.body === undefined) throw new Error(`${operation.operationId} says of no body`);
  return createReader(operation.body["application/json"]).body;
}

/** A schema of a query or a body, compiled once, that reads and checks what callers send. */
export type Reader<Schema extends TObject> = {
  readonly schema: Schema;
  /** Reads the query of an address; throws `invalid_request` naming the parameter. */
  readonly query: (url: string) => Static<Schema>;
  /** Checks a parsed JSON body; throws `invalid_request` naming the field. */
  readonly body: (value: unknown) => Static<Schema>;
};

/** Returns the schema of one of some words. */
export function Word<const Words extends readonly string[]>(words: Words, description?: string) {
  return Type.Unsafe<Words[number]>(
    Type.String({
      enum: [...words],
      pattern: `^(?:${words.join("|")})$`,
      ...(description ? { description } : {}),
    }),
  );
}

/**
 * Names and the like, which people read on one line: no control characters, no ends of lines or paragraphs (U+2028,
 * U+2029), and nothing that turns the direction of the text behind it (U+202A to U+202E, U+2066 to U+2069).
 */
export const Line = (maxLength: number, more: { readonly minLength?: number } = {}) =>
  Type.String({ ...more, maxLength, pattern: LINE, demand: `must be ${lineOf(maxLength)}` });

/** The same, or null. */
export const LineOrNull = (maxLength: number) =>
  Type.Union([Line(maxLength), Type.Null()], { demand: `must be null or ${lineOf(maxLength)}` });

const LINE = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$";
const lineOf = (maxLength: number) =>
  `a string of at most ${maxLength} characters, without control characters, line separators and direction overrides`;

/**
 * Makes a reader of a schema. Booleans of a query are true, false, 1 or 0 in any case; numbers are plain
 * decimals. Parameters and fields that the schema does not name are passed over.
 */
export function createReader<Schema extends TObject>(schema: Schema): Reader<Schema> {
  let compiled: TypeCheck<Schema> | undefined;
  /** Compiled with the first call that needs it: all schemas together would be a tenth of the start. */
  const check = () => {
    compiled ??= TypeCompiler.Compile(schema);
    return compiled;
  };
  const names = Object.keys(schema.properties);
  const required = new Set(schema.required);
  const nullsDropped = new Set(
    Object.entries(schema.properties)
      .filter(([name, property]) => !required.has(name) && property.anyOf === undefined)
      .map(([name]) => name),
  );
  return {
    schema,
    query(url) {
      const values: { [name: string]: unknown } = {};
      readQuery(url, names, (name, text) => {
        const property = schema.properties[name];
        if (property === undefined) return;
        if (values[name] !== undefined)
          throw new ApiError("invalid_request", `${name} must not be repeated.`);
        values[name] = readText(name, text, property);
      });
      return checked(check(), values);
    },
    body(value) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new ApiError("invalid_request", "The body must be a JSON object.");
      }
      return checked(check(), named(value, names, nullsDropped));
    },
  };
}

/**
 * The fields of these names alone: the others are as many as a body has room for, and what is done with each takes time. A
 * field that may be left out may as well be null, unless null says something of its own there.
 */
function named(value: object, names: readonly string[], nullsDropped: ReadonlySet<string>): object {
  const fields: { [name: string]: unknown } = {};
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue;
    const field: unknown = Reflect.get(value, name);
    if (field !== null || !nullsDropped.has(name)) fields[name] = field;
  }
  return fields;
}

function checked<Schema extends TObject>(check: TypeCheck<Schema>, value: unknown): Static<Schema> {
  if (check.Check(value)) return value;
  // Limits of JSON Schema are in characters; the compiled check counts UTF-16 units.
  if (check.Check(narrowed(value))) return value as Static<Schema>;
  const error = check.Errors(value).First();
  throw new ApiError("invalid_request", error === undefined ? undefined : describe(error));
}

/** No schema looks deeper; what callers send may be nested as deep as it is long. */
const DEPTH_MAX = 16;

/** The value with each character of two UTF-16 units as one of one unit. */
function narrowed(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replace(/[\u{10000}-\u{10ffff}]/gu, "\ufffd");
  if (typeof value !== "object" || value === null || depth === DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((inner) => narrowed(inner, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, narrowed(inner, depth + 1)]));
}

const FLAGS: { readonly [text: string]: boolean } = { true: true, 1: true, false: false, 0: false };

function readText(name: string, text: string, schema: TSchema): unknown {
  if (schema.type === "boolean") {
    const flag = FLAGS[text.toLowerCase()];
    if (flag === undefined) throw new ApiError("invalid_request", `${name} must be true, false, 1 or 0.`);
    return flag;
  }
  if (schema.type === "integer" || schema.type === "number") {
    return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text;
  }
  return text;
}

/** Says in one sentence which field is wrong and what it must be. */
function describe({ path, type, schema }: ValueError): string {
  const name = path
    .slice(1)
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  if (type === ValueErrorType.ObjectRequiredProperty) return `${name} is required.`;
  return `${name} ${demand(schema)}.`;
}

function demand(schema: TSchema): string {
  if (typeof schema.demand === "string") return schema.demand;
  if (Array.isArray(schema.enum)) return `must be one of ${schema.enum.join(", ")}`;
  const { minimum, maximum, minLength, maxLength, maxItems } = schema;
  switch (schema.type) {
    case "boolean":
      return "must be true or false";
    case "integer":
    case "number": {
      const kind = schema.type === "integer" ? "a whole number" : "a number";
      if (minimum !== undefined && maximum !== undefined)
        return `must be ${kind} from ${minimum} to ${maximum}`;
      return minimum === undefined ? `must be ${kind}` : `must be ${kind} of at least ${minimum}`;
    }
    case "string":
      if (maxLength !== undefined && minLength === undefined)
        return `must be a string of at most ${maxLength} characters`;
      if (maxLength !== undefined) return `must be a string of ${minLength} to ${maxLength} characters`;
      return "must be a string";
    case "array":
      return maxItems === undefined ? "must be an array" : `must be an array of at most ${maxItems}`;
    default:
      return "is not of the form that this field takes";
  }
}
