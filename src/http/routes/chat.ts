import { formatUsd } from "../../billing/money.ts";
import { chatOperations, postQuote } from "../../contract/specification/chat.ts";
import type { Price as OperationPrice } from "../../contract/specification/operation.ts";
import { type ChatCall, type ChatWork, quoteExpired } from "../../inference/chat.ts";
import { type ChatRequest, readChatRequest } from "../../inference/chat-request.ts";
import { ParamError } from "../../inference/param-error.ts";
import type { Price, Tariff } from "../../inference/tariff.ts";
import type { SentCall, Tasks } from "../../inference/tasks.ts";
import { bazaarExtension } from "../../payments/bazaar.ts";
import type { Payments } from "../../payments/payments.ts";
import { sha256 } from "../../platform/sha256.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import type { Paid } from "../paid.ts";
import { json } from "../reply.ts";
import { readBytes, requireJson } from "../request-body.ts";
import { requestPath } from "../request-path.ts";
import type { Route, Routing } from "../routing.ts";

export type ChatRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly paid: Paid;
  readonly tariff: Tariff;
  /** What a task costs, and which models it takes. */
  readonly taskTariff: Tariff;
  readonly prices: { readonly chat: OperationPrice; readonly task: OperationPrice };
  readonly chatWork: (call: ChatCall) => ChatWork;
  readonly tasks: Pick<Tasks, "take">;
  readonly payments: Pick<Payments, "find">;
  readonly clock: { readonly now: () => number };
  readonly originOf: (request: Request) => string;
  readonly bodyBytesMax: number;
};

/** `POST /v1/chat/completions`, `/v1/quote` and `/task-request`. */
export function chatRoutes(dependencies: ChatRouteDependencies): readonly Route[] {
  const { routing, paid, tariff, taskTariff, prices, chatWork, tasks, originOf, bodyBytesMax } = dependencies;
  const { postChatCompletion, postTask } = chatOperations(prices.chat, prices.task);

  const chat = paid(
    postChatCompletion,
    (call, body) => {
      requireJson(call.request);
      const request = requestIn(body);
      const requestSha256 = sha256(body);
      const price = tariff.priceOf(request, requestSha256, call.request.headers);
      const origin = originOf(call.request);
      const resourceUrl = `${origin}${requestPath(call.request.url).pathname}`;
      const work = chatWork({
        ...{ request, requestSha256, origin, resourceUrl },
        quoteId: price.quoteId,
        upstreamModel: price.upstreamModel,
        signal: call.request.signal,
        admit: admission(dependencies, price),
      });
      const { microUsd: priceMicroUsd, quoteId } = price;
      return { ...work, priceMicroUsd, ...(quoteId === null ? {} : { extra: { quote_id: quoteId } }) };
    },
    { bodyBytesMax, extensions: bazaarExtension({ ...ASKED, output: { choices: [], receipt: "eyJ…" } }) },
  );

  const task = paid(
    postTask,
    (call, body) => {
      requireJson(call.request);
      const request = requestIn(body);
      if (request.isStream) throw new ParamError("invalid_request", "A task has no stream.", "stream");
      const { microUsd } = taskTariff.priceOf(request, sha256(body), NO_HEADERS);
      return { priceMicroUsd: microUsd, work: () => Promise.reject(new Error("done by the task")) };
    },
    {
      ...{ bodyBytesMax, take: tasks.take },
      extensions: bazaarExtension({ ...ASKED, output: { task_id: "task_…", status_url: "https://…" } }),
    },
  );

  const quote = routing.public(postQuote, async (call) => {
    requireJson(call.request);
    const body = await readBytes(call.request, bodyBytesMax);
    const request = requestIn(body);
    const requestSha256 = sha256(body);
    const price = tariff.priceOf(request, requestSha256, NO_HEADERS);
    const { bound, expiresAt } = price;
    return {
      ...json({
        quote_id: price.quoteId,
        amount: String(price.microUsd),
        amount_usd: formatUsd(price.microUsd),
        expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
        model: request.model,
        request_sha256: requestSha256,
        input_tokens_max: bound?.inputTokens ?? null,
        output_tokens_max: bound?.outputTokens ?? null,
      }),
      headers: { "Cache-Control": "no-store" },
    };
  });

  return [chat, task, quote].map((route) => ({ ...route, handler: withOpenAiErrors(route.handler) }));
}

/** How a call is made, for agents that read it in the challenge. */
const ASKED = {
  method: "POST",
  input: {
    example: { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] },
    schema: {
      type: "object",
      properties: {
        model: { type: "string" },
        messages: { type: "array", items: { type: "object" } },
        stream: { type: "boolean" },
      },
      required: ["model", "messages"],
    },
  },
};

const NO_HEADERS = { get: () => null };

/** Returns what makes the work of a task from the call as it was sent. */
export function taskWork(
  chatWork: (call: ChatCall) => ChatWork,
  tariff: Tariff,
): (call: SentCall, signal: AbortSignal) => ChatWork {
  return ({ request: sent, offer }, signal) => {
    // One character a byte, behind the line of the request.
    const body = Buffer.from(sent.slice(sent.indexOf("\n") + 1), "latin1");
    const request = requestIn(body);
    const requestSha256 = sha256(body);
    const { upstreamModel } = tariff.priceOf(request, requestSha256, NO_HEADERS);
    const resourceUrl = offer.resource.url;
    const { origin } = new URL(resourceUrl);
    return chatWork({
      ...{ request, requestSha256, resourceUrl, origin, upstreamModel, signal },
      quoteId: null,
      admit: () => {},
    });
  };
}

function requestIn(body: Uint8Array): ChatRequest {
  const read = readChatRequest(body);
  if (!read.ok) throw new ParamError(read.code, read.message, read.param);
  return read.request;
}

/** A quote buys within its time; a payment that has bought already still gets its answer. */
function admission({ clock, payments }: ChatRouteDependencies, { expiresAt }: Price): ChatCall["admit"] {
  return ({ paymentId }) => {
    if (expiresAt === null || clock.now() <= expiresAt || payments.find(paymentId) !== null) return;
    throw quoteExpired();
  };
}
