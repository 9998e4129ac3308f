import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Sample } from "../../src/contract/specification/operation.ts";
import { jsonOf } from "./json.ts";
import { OPERATIONS } from "./operations.ts";
import type { CallOptions, TestServer } from "./server.ts";

/** The specification as a test reads it: loose, because what it holds is what is being tested. */
export type Schema = { readonly [word: string]: unknown };
export type Example = { readonly summary?: string; readonly value: unknown };
type Examples = { readonly [name: string]: Example };
export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
  readonly examples?: Examples;
};
export type MediaType = { readonly schema: Schema; readonly examples?: Examples };
type Content = { readonly [mediaType: string]: MediaType };
export type ResponseObject = {
  readonly description: string;
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: Content;
};
export type Operation = {
  readonly path: string;
  readonly method: string;
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security: readonly unknown[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: { readonly [status: string]: ResponseObject };
};

export type Specification = {
  /** As it was served. */
  readonly document: Schema;
  readonly operations: readonly Operation[];
  readonly operation: (id: string) => Operation;
  /** The schema that a reference leads to. */
  readonly schema: (ref: string) => Schema;
  /** What does not fit: empty where the value is as the schema at this place of the document says. */
  readonly faults: (pointer: readonly string[], value: unknown) => readonly string[];
  /** What is undocumented or amiss about a reply: its status, headers, media type or body. */
  readonly replyFaults: (operation: Operation, reply: Response, body: string) => readonly string[];
};

/** Headers of HTTP itself, which the server sets without our doing. */
const PLAIN_HEADERS = new Set([
  "access-control-allow-origin",
  "access-control-expose-headers",
  "content-type",
  "content-length",
  "content-security-policy",
  "date",
  "referrer-policy",
  "transfer-encoding",
  "x-content-type-options",
]);

export async function readSpecification(server: TestServer): Promise<Specification> {
  const document = await jsonOf<Schema>(await server.call("/openapi.json"));
  const at = (pointer: readonly string[]): unknown =>
    pointer.reduce((value: unknown, step) => (value as Schema | undefined)?.[step], document);
  const resolve = <T>(value: T): T => {
    const ref = (value as { $ref?: unknown } | undefined)?.$ref;
    if (typeof ref !== "string") return value;
    const found = at(ref.slice(2).split("/"));
    if (found === undefined) throw new Error(`Nothing stands at ${ref}`);
    return found as T;
  };
  const operations = operationsOf(document, resolve);
  const compile = compiler(document);
  const faults = (pointer: readonly string[], value: unknown) => {
    const check = compile(pointer);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
  return {
    document,
    operations,
    faults,
    schema: ($ref) => resolve<Schema>({ $ref }),
    operation(id) {
      const found = operations.find(({ operationId }) => operationId === id);
      if (found === undefined) throw new Error(`The specification has no operation ${id}`);
      return found;
    },
    replyFaults: (operation, reply, body) => replyFaults(operation, reply, body, faults),
  };
}

function operationsOf(document: Schema, resolve: <T>(value: T) => T): Operation[] {
  const paths = document.paths as { [path: string]: { [method: string]: Operation } };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
      parameters: (operation.parameters ?? []).map(resolve),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          { ...response, content: resolvedContent(response.content, resolve) },
        ]),
      ),
    })),
  );
}

function resolvedContent(content: Content | undefined, resolve: <T>(value: T) => T): Content {
  const types = Object.entries(content ?? {}).map(([mediaType, { schema, examples = {} }]) => {
    const all = Object.entries(examples).map(([name, example]) => [name, resolve(example)]);
    return [mediaType, { schema, examples: Object.fromEntries(all) }];
  });
  return Object.fromEntries(types);
}

/** Checks by schemas of the document, in which no object may hold more than it says. */
function compiler(document: Schema): (pointer: readonly string[]) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const { components, paths } = document as { components: { schemas: Schema }; paths: Schema };
  const closed = {
    $id: "https://assay.example/openapi.json",
    components: {
      schemas: Object.fromEntries(
        Object.entries(components.schemas).map(([name, schema]) => [name, closedSchema(schema, false)]),
      ),
    },
    paths: closedResponses(paths),
  };
  ajv.addSchema(closed);
  const compiled = new Map<string, ValidateFunction>();
  return (pointer) => {
    const path = pointer.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
    const $ref = `${closed.$id}#/${path.join("/")}`;
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  };
}

function closedResponses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedResponses);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "schema" ? closedSchema(inner, true) : closedResponses(inner),
    ]),
  );
}

function closedSchema(value: unknown, standsAlone: boolean): unknown {
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Schema;
  const out: { [word: string]: unknown } = { ...schema };
  if (typeof schema.properties === "object" && schema.properties !== null) {
    out.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [name, closedSchema(inner, true)]),
    );
  }
  if (schema.items !== undefined) out.items = closedSchema(schema.items, true);
  for (const word of ["allOf", "anyOf", "oneOf"]) {
    const inner = schema[word];
    if (Array.isArray(inner)) out[word] = inner.map((member) => closedSchema(member, false));
  }
  if (standsAlone && schema.additionalProperties === undefined) out.unevaluatedProperties = false;
  return out;
}

function replyFaults(
  operation: Operation,
  reply: Response,
  body: string,
  faults: Specification["faults"],
): string[] {
  const documented = operation.responses[reply.status];
  if (documented === undefined) return [`status ${reply.status} is not documented: ${body.slice(0, 200)}`];
  const known = new Set(Object.keys(documented.headers ?? {}).map((name) => name.toLowerCase()));
  const found = [...reply.headers.keys()]
    .filter((name) => !PLAIN_HEADERS.has(name) && !known.has(name))
    .map((name) => `header ${name} is not documented for ${reply.status}`);
  if (body === "") return found;
  const mediaType = (reply.headers.get("content-type") ?? "").split(";")[0] ?? "";
  if (documented.content?.[mediaType] === undefined) {
    return [...found, `media type ${mediaType} is not documented for ${reply.status}`];
  }
  const { path, method } = operation;
  const place = ["paths", path, method.toLowerCase(), "responses", `${reply.status}`, "content", mediaType];
  const value: unknown = mediaType === "application/json" ? JSON.parse(body) : body;
  return [...found, ...faults([...place, "schema"], value)];
}

/**
 * The call that the examples of this name make up. Calls that are refused are no examples of a request: they are described in
 * the example of the reply alone, and come from where the specification is made of.
 */
export function exampleCall(operation: Operation, name: string): { path: string; options: CallOptions } {
  const refused = OPERATIONS.find(({ operationId }) => operationId === operation.operationId)?.samples?.[
    name
  ];
  if (refused?.status !== undefined && refused.status >= 400) return refusedCall(operation, refused);
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters) {
    const value = parameter.examples?.[name]?.value;
    if (value === undefined) continue;
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(`${value}`));
    else query.set(parameter.name, `${value}`);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  const sent = Object.entries(operation.requestBody?.content ?? {}).find(
    ([, { examples }]) => examples?.[name] !== undefined,
  );
  const [type, media] = sent ?? [];
  const answered = Object.values(operation.responses).flatMap(({ content = {} }) =>
    Object.entries(content).filter(([, { examples }]) => examples?.[name] !== undefined),
  );
  const accept = answered[0]?.[0];
  return {
    path: path + search,
    options: {
      method: operation.method,
      headers: {
        ...(type === undefined ? {} : { "Content-Type": type }),
        ...(accept === undefined ? {} : { Accept: accept }),
      },
      ...(media === undefined ? {} : { body: media.examples?.[name]?.value }),
    },
  };
}

function refusedCall(operation: Operation, { query = {}, parameters = {}, body, bodyType }: Sample) {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, `${value}`] as [string, string]),
  );
  const path = Object.entries(parameters).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    operation.path,
  );
  return {
    path: search.size === 0 ? path : `${path}?${search}`,
    options: {
      method: operation.method,
      ...(body === undefined ? {} : { body }),
      ...(bodyType === undefined ? {} : { headers: { "Content-Type": bodyType } }),
    },
  };
}
