import type { HttpClient } from "../net/http-client.ts";
import type { OpenReply } from "../net/reply.ts";
import { isObject } from "../platform/json-value.ts";
import { atOnce, type Steps, stepsFor } from "../platform/steps.ts";
import type { JsonObject, JsonValue } from "./choices.ts";
import { type OpenStream, readStream } from "./open-stream.ts";
import { jsonInSteps, jsonOf } from "./upstream-json.ts";

/** One server that completes chats. */
export type UpstreamAddress = {
  /** Ends in `/v1`, without a slash behind it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
};

/** An error of an upstream. */
export type UpstreamRefusal = {
  readonly status: number;
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
};

/** The outcome of a call, up to its first token. */
export type UpstreamReply =
  | { readonly kind: "answer"; readonly text: string; readonly answer: JsonObject }
  | { readonly kind: "stream"; readonly stream: OpenStream }
  /** The request itself is refused: no other upstream is tried. */
  | { readonly kind: "refused"; readonly refusal: UpstreamRefusal }
  | { readonly kind: "failed"; readonly reason: string };

/** Statuses that blame the request, not the upstream or our account there. */
const REQUEST_FAULTS: readonly number[] = [400, 404, 409, 413, 422];
const REFUSAL_BYTES_MAX = 65_536;

/** Returns the question for an upstream's models, which costs nothing there. */
export function modelsRequest({ baseUrl, apiKey }: UpstreamAddress) {
  return { url: `${baseUrl}/models`, headers: keyHeaders(apiKey) };
}

function keyHeaders(apiKey: string | null): { readonly [name: string]: string } {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

/** Sends a chat completion to an upstream; resolves with its answer, or with its first token. */
export async function askUpstream(
  client: HttpClient,
  { baseUrl, apiKey }: UpstreamAddress,
  {
    body,
    isStream,
    signal,
    answerBytesMax,
    step,
  }: {
    readonly body: string;
    readonly isStream: boolean;
    readonly signal: AbortSignal;
    /** Bytes of an answer in one piece; a longer one is refused. */
    readonly answerBytesMax: number;
    /** For a large answer. */
    readonly step: Steps;
  },
): Promise<UpstreamReply> {
  const reply = await client.open(`${baseUrl}/chat/completions`, {
    method: "POST",
    body,
    signal,
    headers: {
      "content-type": "application/json",
      accept: isStream ? "text/event-stream" : "application/json",
      ...keyHeaders(apiKey),
    },
  });
  if (!reply.ok) return { kind: "failed", reason: reply.reason };
  try {
    if (reply.status !== 200) return await readRefusal(reply);
    if (!isStream) return await readAnswer(reply, answerBytesMax, step);
    const read = await readStream(reply);
    return typeof read === "string" ? { kind: "failed", reason: read } : { kind: "stream", stream: read };
  } catch (error) {
    reply.cancel();
    return { kind: "failed", reason: reasonOf(error) };
  }
}

async function readRefusal(reply: OpenReply): Promise<UpstreamReply> {
  const failed: UpstreamReply = { kind: "failed", reason: `status ${reply.status}` };
  if (!REQUEST_FAULTS.includes(reply.status)) {
    reply.cancel();
    return failed;
  }
  const text = await readText(reply, REFUSAL_BYTES_MAX, atOnce);
  const parsed = jsonOf(text ?? "");
  const error = isObject(parsed) ? parsed.error : undefined;
  const fields = isObject(error) ? error : {};
  const textOf = (value: JsonValue | undefined) => (typeof value === "string" ? value.slice(0, 500) : null);
  return {
    kind: "refused",
    refusal: {
      status: reply.status,
      message: textOf(fields.message) ?? "The upstream refused the request.",
      type: textOf(fields.type),
      param: textOf(fields.param),
      code: textOf(fields.code),
    },
  };
}

async function readAnswer(reply: OpenReply, bytesMax: number, step: Steps): Promise<UpstreamReply> {
  const text = await readText(reply, bytesMax, step);
  if (text === null) return { kind: "refused", refusal: tooLong(bytesMax) };
  const answer = await jsonInSteps(text, step);
  const isAnswer = isObject(answer) && Array.isArray(answer.choices) && answer.choices.length > 0;
  return isAnswer
    ? { kind: "answer", text, answer }
    : { kind: "failed", reason: "the answer has no choices" };
}

/** An answer that is too long has been made, and paid for by the operator: it would be no shorter at another upstream. */
function tooLong(bytesMax: number): UpstreamRefusal {
  const message = `The answer passes ${bytesMax} bytes: ask for fewer tokens, or for a stream at /v1/chat/completions. Nothing was charged.`;
  return { status: 502, message, type: "api_error", param: null, code: "upstream_failed" };
}

/** Returns the whole text; null where it is too long, with the rest unread. */
async function readText({ body, cancel }: OpenReply, bytesMax: number, step: Steps): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes <= bytesMax) continue;
    cancel();
    return null;
  }
  return stepsFor(bytes, step)(() => Buffer.concat(parts).toString("utf8"));
}

function reasonOf(error: unknown): string {
  const { reason } = error as { readonly reason?: unknown };
  if (typeof reason === "string") return reason;
  throw error;
}
