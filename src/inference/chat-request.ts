import {
  isObject,
  parseJsonInSteps,
  repeatsName,
  TOO_DEEP,
  TOO_MANY_VALUES,
} from "../platform/json-value.ts";
import { createMisspeltName } from "../platform/misspelt-name.ts";
import type { Steps } from "../platform/steps.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import type { JsonObject, JsonValue } from "./choices.ts";
import { findMembers, type Members, withMembers } from "./json-members.ts";
import { PRICED_BY_VALUE } from "./unpriced.ts";

/** A chat completion that is asked for. What is not looked at here is the upstream's to check. */
export type ChatRequest = {
  /** As it was sent. */
  readonly text: string;
  /** Of the body, in the text; by name, those that the model does not read. */
  readonly members: Members;
  readonly body: JsonObject;
  readonly model: string;
  readonly messages: readonly JsonObject[];
  readonly isStream: boolean;
  /** The caller wants the usage at the end of the stream. */
  readonly includesUsage: boolean;
  /** Choices that are asked for. */
  readonly choices: number;
  /** Null where the caller sets no limit. */
  readonly outputTokensMax: number | null;
};

/** Why a request is refused, and which field of it. */
export type ChatRefusal = {
  readonly ok: false;
  readonly code: "invalid_json" | "invalid_request";
  readonly message: string;
  readonly param: string | null;
};

export type ReadChatRequest = { readonly ok: true; readonly request: ChatRequest } | ChatRefusal;

const MODEL_CHARACTERS_MAX = 256;
const CHOICES_MAX = 128;
/** Of the body, however long its texts are. */
const VALUES_MAX = 65_536;
const DEPTH_MAX = 512;
/** Fields that limit the tokens of a choice: upstreams know one or another, and llama.cpp takes `n_predict` for the last word. */
export const LIMIT_FIELDS: readonly string[] = ["max_tokens", "max_completion_tokens", "n_predict"];
/** Fields that are not a part of the model's input; among them those that are set for the upstream. */
const UNREAD_FIELDS: ReadonlySet<string> = new Set([
  ...LIMIT_FIELDS,
  ...(
    "model stream stream_options n stop seed temperature top_p top_k min_p " +
    "frequency_penalty presence_penalty repetition_penalty logit_bias logprobs top_logprobs parallel_tool_calls " +
    "reasoning_effort verbosity user safety_identifier prompt_cache_key metadata store service_tier"
  ).split(" "),
]);
/** Looks at the fields that decide the price, or which answer comes. */
const misspeltInBody = createMisspeltName(
  new Set([..."model messages stream stream_options n".split(" "), ...LIMIT_FIELDS, ...PRICED_BY_VALUE]),
);
/** Looks at those of a message, and of its parts. */
const misspeltInMessageFields = createMisspeltName(new Set(["role", "content"]));
const misspeltInPart = createMisspeltName(new Set(["type", "image_url"]));

/** Reads the body of a chat completion, in JSON. */
export async function readChatRequest(bytes: Uint8Array, step: Steps): Promise<ReadChatRequest> {
  const text = await step(() => decodeUtf8(bytes));
  const body = text === null ? undefined : await parseJsonInSteps(text, step, VALUES_MAX, DEPTH_MAX);
  if (text === null || body === undefined) {
    return { ok: false, code: "invalid_json", message: "The body is not valid JSON.", param: null };
  }
  if (body === TOO_MANY_VALUES) return refusal(`The body must hold at most ${VALUES_MAX} values.`, null);
  if (body === TOO_DEEP) return refusal(`The body must be nested at most ${DEPTH_MAX} deep.`, null);
  if (await repeatsName(text, body, step))
    return refusal("No object of the body may have a name twice.", null);
  const read = await step(() => readFields(body as JsonValue));
  if (!read.ok) return read;
  const members = await step(() => findMembers(text, UNREAD_FIELDS));
  return { ok: true, request: { ...read.fields, text, members } };
}

type ReadFields = { readonly ok: true; readonly fields: Omit<ChatRequest, "text" | "members"> } | ChatRefusal;

function readFields(body: JsonValue): ReadFields {
  if (!isObject(body)) return refusal("The body must be a JSON object.", null);
  const misspelt = misspeltInBody(body);
  if (misspelt !== null) return refusal(`${misspelt} must be written in small letters.`, misspelt);
  const { model, messages, stream = null, stream_options: streamOptions = null, n = null } = body;
  const isName = typeof model === "string" && model !== "" && model.isWellFormed();
  if (!isName || model.length > MODEL_CHARACTERS_MAX) {
    return refusal(`model must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters.`, "model");
  }
  if (!isMessages(messages)) {
    return refusal("messages must be a list of at least one object with a role.", "messages");
  }
  const misspeltWithin = firstOf(messages, misspeltInMessage);
  if (misspeltWithin !== null) {
    return refusal(`${misspeltWithin} must be written in small letters.`, "messages");
  }
  if (stream !== null && typeof stream !== "boolean") return refusal("stream must be a boolean.", "stream");
  if (streamOptions !== null && !isObject(streamOptions)) {
    return refusal("stream_options must be an object.", "stream_options");
  }
  if (n !== null && !isCount(n, CHOICES_MAX)) {
    return refusal(`n must be a whole number from 1 to ${CHOICES_MAX}.`, "n");
  }
  for (const name of LIMIT_FIELDS) {
    const value = body[name] ?? null;
    if (value !== null && !isCount(value, Number.MAX_SAFE_INTEGER)) {
      return refusal(`${name} must be a whole number from 1.`, name);
    }
  }
  const limits = LIMIT_FIELDS.map((name) => body[name]).filter((value) => typeof value === "number");
  return {
    ok: true,
    fields: {
      body,
      model,
      messages,
      isStream: stream === true,
      includesUsage: isObject(streamOptions) && streamOptions.include_usage === true,
      choices: n ?? 1,
      outputTokensMax: limits.length === 0 ? null : Math.max(...limits),
    },
  };
}

/** Returns the body as the upstream gets it: under its name of the model, and with the usage of a stream asked for. */
export function upstreamBody({ text, members, body, isStream }: ChatRequest, upstreamModel: string): string {
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const set = {
    ...(body.model === upstreamModel ? {} : { model: JSON.stringify(upstreamModel) }),
    ...(isStream ? { stream_options: JSON.stringify({ ...options, include_usage: true }) } : {}),
  };
  return withMembers(text, set, members);
}

function misspeltInMessage(message: JsonObject): string | null {
  const inPart = (part: JsonValue) => (isObject(part) ? misspeltInPart(part) : null);
  const parts: readonly JsonValue[] = Array.isArray(message.content) ? message.content : [];
  return misspeltInMessageFields(message) ?? firstOf(parts, inPart);
}

/** Returns the first value that is found in a list, or null. */
function firstOf<T>(list: readonly T[], find: (entry: T) => string | null): string | null {
  for (const entry of list) {
    const found = find(entry);
    if (found !== null) return found;
  }
  return null;
}

function refusal(message: string, param: string | null): ChatRefusal {
  return { ok: false, code: "invalid_request", message, param };
}

function isMessages(value: JsonValue | undefined): value is readonly JsonObject[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((message) => isObject(message) && typeof message.role === "string")
  );
}

function isCount(value: JsonValue, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}
