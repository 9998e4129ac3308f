import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { ErrorCode } from "../errors.ts";
import recorded from "./data/reply-examples.json" with { type: "json" };
import { type HeaderName, headerRefs, KEY_HEADERS } from "./headers.ts";
import { type Json, type JsonObject, schemaRef } from "./openapi-schema.ts";
import { refusals } from "./refusals.ts";

/** A call that the specification shows. Its reply is recorded in `data/reply-examples.json` from a real server. */
export type Sample = {
  readonly summary: string;
  readonly status?: number;
  readonly query?: { readonly [name: string]: string | number | boolean };
  readonly path?: { readonly [name: string]: string };
  readonly body?: Json;
  /** The body's media type; JSON unless it says otherwise. */
  readonly bodyType?: string;
  /** The media type asked for; JSON unless it says otherwise. */
  readonly accept?: string;
};

type ReplyShape = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  /** By media type; none for a reply without a body. */
  readonly content?: { readonly [mediaType: string]: TSchema };
};

export type OperationParts = {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** `key`: authenticated. `public`: limited by client address. `open`: neither, and answered while draining. */
  readonly access: "key" | "public" | "open";
  readonly query?: TObject;
  readonly path?: { readonly [name: string]: string };
  readonly ifNoneMatch?: boolean;
  readonly body?: { readonly [mediaType: string]: TSchema };
  readonly bodyRequired?: boolean;
  /** A POST by a key's holder takes an Idempotency-Key. */
  readonly idempotent?: boolean;
  readonly replies: { readonly [status: number]: ReplyShape };
  readonly refusals?: readonly ErrorCode[];
  readonly samples?: { readonly [name: string]: Sample };
};

type Samples = NonNullable<OperationParts["samples"]>;

const RECORDED: { readonly [operationId: string]: { readonly [sample: string]: Json } } = recorded;
const JSON_MEDIA = "application/json";

const EVERYONE: readonly ErrorCode[] = ["internal_error"];
const WHILE_SERVING: readonly ErrorCode[] = ["rate_limited", "shutting_down", "storage_unavailable"];
const WITH_KEY: readonly ErrorCode[] = ["missing_key", "bad_key", "overloaded"];
const WITH_BODY: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
];
const IDEMPOTENT: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_mismatch"];

/** What a route says of itself to the specification. */
export function operation(parts: OperationParts): DocumentDecoration {
  const { access, samples = {} } = parts;
  const parameters = parametersOf(parts, samples);
  // The types of the router know OpenAPI 3.0 only, where a type cannot also be null.
  const written: object = {
    operationId: parts.operationId,
    tags: [parts.tag],
    summary: parts.summary,
    ...(parts.description === undefined ? {} : { description: parts.description }),
    security: access === "key" ? [{ key: [] }] : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(parts.body === undefined ? {} : { requestBody: requestBody(parts, parts.body, samples) }),
    responses: { ...successes(parts, samples), ...refusalsOf(parts, samples) },
  };
  return written as DocumentDecoration;
}

/** A query or body schema with descriptions for readers, and a name. */
export function described<Properties extends TProperties>(
  schema: TObject<Properties>,
  descriptions: { readonly [name in keyof Properties]: string },
  name?: string,
): TObject {
  const properties = Object.entries(schema.properties).map(([field, property]) => [
    field,
    { ...property, description: descriptions[field] },
  ]);
  return Type.Object(Object.fromEntries(properties), name === undefined ? {} : { $id: name });
}

function parametersOf(parts: OperationParts, samples: Samples): JsonObject[] {
  const examplesOf = (place: "query" | "path", name: string) =>
    examples(samples, (sample) => sample[place]?.[name]);
  const required = parts.query?.required ?? [];
  return [
    ...Object.entries(parts.path ?? {}).map(([name, description]) => ({
      name,
      in: "path",
      required: true,
      description,
      schema: { type: "string" },
      ...examplesOf("path", name),
    })),
    ...Object.entries(parts.query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: "query",
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: schemaRef(schema as TSchema),
      ...examplesOf("query", name),
    })),
    ...(parts.ifNoneMatch === true ? [{ $ref: "#/components/parameters/IfNoneMatch" }] : []),
    ...(parts.idempotent === true ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

function requestBody(
  parts: OperationParts,
  body: { readonly [mediaType: string]: TSchema },
  samples: Samples,
): JsonObject {
  const content = Object.entries(body).map(([mediaType, schema]) => [
    mediaType,
    {
      schema: schemaRef(schema),
      ...examples(samples, (sample) =>
        (sample.bodyType ?? JSON_MEDIA) === mediaType ? sample.body : undefined,
      ),
    },
  ]);
  return { required: parts.bodyRequired ?? true, content: Object.fromEntries(content) };
}

function successes(parts: OperationParts, samples: Samples): JsonObject {
  const headers: readonly HeaderName[] = [
    "X-Request-Id",
    ...(parts.access === "key" ? KEY_HEADERS : []),
    ...(parts.idempotent === true ? (["Idempotent-Replayed"] as const) : []),
  ];
  return Object.fromEntries(
    Object.entries(parts.replies).map(([status, reply]) => [
      status,
      {
        description: reply.description,
        headers: headerRefs([...headers, ...(reply.headers ?? [])]),
        ...(reply.content === undefined
          ? {}
          : { content: contentOf(parts.operationId, status, reply.content, samples) }),
      },
    ]),
  );
}

function contentOf(
  operationId: string,
  status: string,
  content: { readonly [mediaType: string]: TSchema },
  samples: Samples,
): JsonObject {
  return Object.fromEntries(
    Object.entries(content).map(([mediaType, schema]) => {
      const ofType = Object.entries(samples).filter(
        ([, sample]) => `${sample.status ?? 200}` === status && (sample.accept ?? JSON_MEDIA) === mediaType,
      );
      return [mediaType, { schema: schemaRef(schema), ...recordedExamples(operationId, ofType) }];
    }),
  );
}

function refusalsOf(parts: OperationParts, samples: Samples): JsonObject {
  const { access, body, idempotent, operationId } = parts;
  const codes = [
    ...(parts.refusals ?? []),
    ...(access === "key" ? WITH_KEY : []),
    ...(body === undefined ? [] : WITH_BODY),
    ...(idempotent === true ? IDEMPOTENT : []),
    ...(access === "open" ? [] : WHILE_SERVING),
    ...EVERYONE,
  ];
  const refused: { [status: string]: JsonObject } = {};
  for (const [name, sample] of Object.entries(samples)) {
    if (sample.status === undefined || sample.status < 400) continue;
    const { examples: known = {} } = recordedExamples(operationId, [[name, sample]]);
    refused[sample.status] = { ...refused[sample.status], ...known };
  }
  return refusals([...new Set(codes)], access, refused);
}

/** The calls that say something of one parameter or body, under their names. */
function examples(samples: Samples, pick: (sample: Sample) => Json | undefined): JsonObject {
  const found: { [name: string]: JsonObject } = {};
  for (const [name, sample] of Object.entries(samples)) {
    const value = pick(sample);
    if (value !== undefined) found[name] = { summary: sample.summary, value };
  }
  return Object.keys(found).length === 0 ? {} : { examples: found };
}

/** Replies by the names of the calls; one that is not recorded yet says so, which the tests find. */
function recordedExamples(
  operationId: string,
  samples: readonly (readonly [string, Sample])[],
): { readonly examples?: { readonly [name: string]: JsonObject } } {
  if (samples.length === 0) return {};
  const found = samples.map(([name, { summary }]) => [
    name,
    { summary, value: RECORDED[operationId]?.[name] ?? "not recorded" },
  ]);
  return { examples: Object.fromEntries(found) };
}
