import type { HttpClient } from "../net/http-client.ts";
import type { OpenReply } from "../net/reply.ts";
import { hasToken, isObject, type JsonObject, type JsonValue } from "./choices.ts";
import { DONE, EventStreamError, readEvents } from "./event-stream.ts";

/** One server that completes chats. */
export type UpstreamAddress = {
  /** Ends in `/v1`, without a slash behind it. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
};

/** An error in the words of an upstream. */
export type UpstreamRefusal = {
  readonly status: number;
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
};

/** What became of a call, up to its first token. */
export type UpstreamReply =
  | { readonly kind: "answer"; readonly text: string; readonly answer: JsonObject }
  | { readonly kind: "stream"; readonly stream: OpenStream }
  /** The request itself is refused: no other upstream is asked. */
  | { readonly kind: "refused"; readonly refusal: UpstreamRefusal }
  | { readonly kind: "failed"; readonly reason: string };

/** A stream whose first token is there. */
export type OpenStream = {
  /** The events up to the first token, in order, then the rest as they come; without the `[DONE]`. */
  readonly events: AsyncGenerator<string, StreamEnd, undefined>;
  readonly cancel: () => void;
};

/** How a stream came to its end: with `[DONE]`, or why not. */
export type StreamEnd = { readonly isComplete: boolean; readonly reason: string | null };

/** Statuses that say what is wrong with the request, and not with the upstream or our account there. */
const REQUEST_FAULTS: readonly number[] = [400, 404, 409, 413, 422];
const REFUSAL_BYTES_MAX = 65_536;

/** Sends a chat completion to an upstream; returns once it has answered, or its first token is there. */
export async function askUpstream(
  client: HttpClient,
  { baseUrl, apiKey }: UpstreamAddress,
  {
    body,
    isStream,
    signal,
  }: { readonly body: string; readonly isStream: boolean; readonly signal: AbortSignal },
): Promise<UpstreamReply> {
  const reply = await client.open(`${baseUrl}/chat/completions`, {
    method: "POST",
    body,
    signal,
    headers: {
      "content-type": "application/json",
      accept: isStream ? "text/event-stream" : "application/json",
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  });
  if (!reply.ok) return { kind: "failed", reason: reply.reason };
  try {
    if (reply.status !== 200) return await readRefusal(reply);
    if (!isStream) return await readAnswer(reply);
    return await readStream(reply);
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
  const text = await readText(reply, REFUSAL_BYTES_MAX);
  const parsed = jsonOf(text);
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

async function readAnswer(reply: OpenReply): Promise<UpstreamReply> {
  const text = await readText(reply);
  const answer = jsonOf(text);
  const isAnswer = isObject(answer) && Array.isArray(answer.choices) && answer.choices.length > 0;
  return isAnswer
    ? { kind: "answer", text, answer }
    : { kind: "failed", reason: "the answer has no choices" };
}

async function readStream(reply: OpenReply): Promise<UpstreamReply> {
  if (!/^text\/event-stream\b/i.test(reply.headers.get("content-type") ?? "")) {
    reply.cancel();
    return { kind: "failed", reason: "the answer is no stream" };
  }
  const events = readEvents(reply.body);
  const first: string[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true || value === DONE) {
      reply.cancel();
      return { kind: "failed", reason: "the stream has no token" };
    }
    const chunk = jsonOf(value);
    if (!isObject(chunk) || chunk.error !== undefined) {
      reply.cancel();
      return { kind: "failed", reason: "the stream begins with an error" };
    }
    first.push(value);
    if (Array.isArray(chunk.choices) && hasToken(chunk.choices)) break;
  }
  return { kind: "stream", stream: { events: following(first, events), cancel: reply.cancel } };
}

async function* following(
  first: readonly string[],
  events: AsyncGenerator<string>,
): AsyncGenerator<string, StreamEnd, undefined> {
  yield* first;
  try {
    for (;;) {
      const { done, value } = await events.next();
      if (done === true) return { isComplete: false, reason: "the stream ended without [DONE]" };
      if (value === DONE) return { isComplete: true, reason: null };
      yield value;
    }
  } catch (error) {
    return { isComplete: false, reason: reasonOf(error) };
  }
}

async function readText({ body }: OpenReply, bytesMax = Number.POSITIVE_INFINITY): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

export function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof EventStreamError) return error.message;
  const { reason } = error as { readonly reason?: unknown };
  if (typeof reason === "string") return reason;
  throw error;
}
