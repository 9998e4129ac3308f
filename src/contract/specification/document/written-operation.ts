import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../errors.ts";
import { type HeaderName, headerRefs, KEY_HEADERS } from "../headers.ts";
import { type Json, type JsonObject, schemaRef, writtenParameter } from "../openapi-schema.ts";
import type { Operation, Price, ReplyShape, Sample, Samples } from "../operation.ts";
import recorded from "./data/reply-examples.json" with { type: "json" };
import { refusals } from "./refusals.ts";

const RECORDED: { readonly [operationId: string]: { readonly [sample: string]: Json } } = recorded;
const JSON_MEDIA = "application/json";

const EVERYONE: readonly ErrorCode[] = ["internal_error"];
const WHILE_SERVING: readonly ErrorCode[] = ["rate_limited", "shutting_down", "storage_unavailable"];
const WITH_KEY: readonly ErrorCode[] = ["missing_key", "bad_key", "forbidden", "overloaded"];
const WITH_BODY: readonly ErrorCode[] = [
  "invalid_request",
  "invalid_json",
  "payload_too_large",
  "unsupported_media_type",
];
const PAID: readonly ErrorCode[] = [
  "payment_required",
  "payment_invalid",
  "payment_in_use",
  "upstream_failed",
  "overloaded",
  "settlement_unknown",
];
const IDEMPOTENT: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_mismatch"];

/** Writes an operation in the words of OpenAPI. */
export function writtenOperation(operation: Operation): JsonObject {
  const { access, samples = {} } = operation;
  const parameters = parametersOf(operation, samples);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description ?? `${operation.summary}.`,
    security: access === "key" ? [{ key: [] }] : [],
    ...(operation.price === undefined ? {} : { "x-payment-info": paymentInfo(operation.price) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body === undefined ? {} : { requestBody: requestBody(operation, operation.body, samples) }),
    ...(operation.bytes === undefined ? {} : { requestBody: bytesBody(operation.bytes) }),
    responses: { ...successes(operation, samples), ...refusalsOf(operation, samples) },
  };
}

/** Writes a price as agents that look for paid calls read it (the discovery specification of AgentCash, version 1). */
function paymentInfo(price: Price): JsonObject {
  const { mode } = price;
  const written =
    price.mode === "fixed"
      ? { mode, currency: "USD", amount: price.amountUsd }
      : { mode, currency: "USD", min: price.minUsd, max: price.maxUsd };
  return { price: written, protocols: [{ x402: {} }] };
}

function parametersOf(operation: Operation, samples: Samples): JsonObject[] {
  const examplesOf = (place: "query" | "parameters", name: string) =>
    examples(samples, (sample) => sample[place]?.[name]);
  const required = operation.query?.required ?? [];
  return [
    ...Object.entries(operation.parameters ?? {}).map(([name, said]) => ({
      name,
      in: "path",
      required: true,
      ...(typeof said === "string"
        ? { description: said, schema: { type: "string" } }
        : { description: said.description ?? name, schema: schemaRef(said) }),
      ...examplesOf("parameters", name),
    })),
    ...Object.entries(operation.query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
      name,
      in: "query",
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: writtenParameter(schema as TSchema),
      ...examplesOf("query", name),
    })),
    ...(operation.ifNoneMatch === true ? [{ $ref: "#/components/parameters/IfNoneMatch" }] : []),
    ...(operation.idempotent === true ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
}

function requestBody(
  operation: Operation,
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
  return { required: operation.bodyRequired ?? true, content: Object.fromEntries(content) };
}

function bytesBody(description: string): JsonObject {
  const schema = { type: "string", format: "binary" };
  return { description, required: true, content: { "application/octet-stream": { schema } } };
}

function successes(operation: Operation, samples: Samples): JsonObject {
  const headers: readonly HeaderName[] = [
    "X-Request-Id",
    ...(operation.access === "key" ? KEY_HEADERS : []),
    ...(operation.idempotent === true ? (["Idempotent-Replayed"] as const) : []),
    ...(operation.price === undefined ? [] : (["PAYMENT-RESPONSE", "X-Payment-Id"] as const)),
  ];
  return Object.fromEntries(
    Object.entries(operation.replies).map(([status, reply]) => [
      status,
      {
        description: reply.description,
        headers: headerRefs([...headers, ...(reply.headers ?? []), ...encodingHeaders(reply)]),
        ...(reply.content === undefined
          ? {}
          : { content: contentOf(operation.operationId, status, reply.content, samples) }),
      },
    ]),
  );
}

/** Of replies with a body, and of a 304 for one. */
function encodingHeaders({ headers = [], content }: ReplyShape): HeaderName[] {
  if (content !== undefined) return ["Vary", "Content-Encoding"];
  return headers.includes("ETag") ? ["Vary"] : [];
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

function refusalsOf(operation: Operation, samples: Samples): JsonObject {
  const { access, body, idempotent, operationId } = operation;
  const codes = [
    ...(operation.refusals ?? []),
    ...(access === "key" ? WITH_KEY : []),
    ...(body === undefined ? [] : WITH_BODY),
    ...(operation.price === undefined ? [] : PAID),
    ...(idempotent === true ? IDEMPOTENT : []),
    ...(access === "open" ? [] : WHILE_SERVING),
    ...EVERYONE,
  ];
  const refused: { [status: string]: JsonObject } = {};
  for (const [name, sample] of Object.entries(samples)) {
    if (sample.status === undefined || !isRefused(sample)) continue;
    const { examples: known = {} } = recordedExamples(operationId, [[name, sample]]);
    const example = { ...known[name], description: `The reply to ${sentText(sample)}.` };
    refused[sample.status] = { ...refused[sample.status], [name]: example };
  }
  return refusals([...new Set(codes)], access, refused);
}

const isRefused = ({ status }: Sample) => status !== undefined && status >= 400;

/** The calls that say something of one parameter or body, under their names. Those that are refused are no examples. */
function examples(samples: Samples, pick: (sample: Sample) => Json | undefined): JsonObject {
  const found: { [name: string]: JsonObject } = {};
  for (const [name, sample] of Object.entries(samples)) {
    const value = isRefused(sample) ? undefined : pick(sample);
    if (value !== undefined) found[name] = { summary: sample.summary, value };
  }
  return Object.keys(found).length === 0 ? {} : { examples: found };
}

/** What a sample sends, as readers see it. */
function sentText({ query = {}, parameters = {}, body }: Sample): string {
  const sent = [
    ...Object.entries({ ...parameters, ...query }).map(([name, value]) => `\`${name}=${value}\``),
    ...(body === undefined ? [] : [`\`${JSON.stringify(body)}\``]),
  ];
  return sent.length === 0 ? "a call without parameters" : sent.join(", ");
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
