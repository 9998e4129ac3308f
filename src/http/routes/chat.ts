import { formatUsd } from "../../billing/money.ts";
import { clientAddressKey } from "../../billing/rate-limiter.ts";
import { chatOperations, postQuote } from "../../contract/specification/chat.ts";
import type { Price as OperationPrice } from "../../contract/specification/operation.ts";
import { type ChatCall, type ChatWork, quoteExpired } from "../../inference/chat.ts";
import { type ChatRequest, readChatRequest } from "../../inference/chat-request.ts";
import { ParamError } from "../../inference/param-error.ts";
import type { Price, Tariff } from "../../inference/tariff.ts";
import type { SentCall, Tasks } from "../../inference/tasks.ts";
import { bazaarExtension } from "../../payments/bazaar.ts";
import type { Payments } from "../../payments/payments.ts";
import { loadedOnce } from "../../platform/loaded-once.ts";
import { sha256InSteps } from "../../platform/sha256.ts";
import { atOnce, type Steps } from "../../platform/steps.ts";
import type { BodyReader } from "../body-reader.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import type { Paid } from "../paid.ts";
import { json } from "../reply.ts";
import { requireJson, SMALL_BODY_BYTES_MAX } from "../request-body.ts";
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
  readonly bodies: Pick<BodyReader, "read">;
  /** For all that is done with large bodies. */
  readonly step: Steps;
};

/** `POST /v1/chat/completions`, `/v1/quote` and `/task-request`. */
export function chatRoutes(dependencies: ChatRouteDependencies): readonly Route[] {
  const operations = chatOperations(dependencies.prices.chat, dependencies.prices.task);
  const routes = [
    chatRoute(operations.postChatCompletion, dependencies),
    taskRoute(operations.postTask, dependencies),
    quoteRoute(dependencies),
  ];
  return routes.map((route) => ({ ...route, handler: withOpenAiErrors(route.handler) }));
}

type ChatOperations = ReturnType<typeof chatOperations>;

function chatRoute(
  operation: ChatOperations["postChatCompletion"],
  dependencies: ChatRouteDependencies,
): Route {
  const { paid, tariff, chatWork, originOf, bodyBytesMax, step } = dependencies;
  return paid(
    operation,
    async (call, body) => {
      requireJson(call.request);
      const { request, requestSha256, price } = await readCall(body, tariff, call.request.headers, step);
      const origin = originOf(call.request);
      const work = chatWork({
        request,
        requestSha256,
        origin,
        resourceUrl: `${origin}${requestPath(call.request.url).pathname}`,
        quoteId: price.quoteId,
        upstreamModel: price.upstreamModel,
        signal: call.request.signal,
        admit: admission(dependencies, price),
      });
      const { microUsd: priceMicroUsd, quoteId } = price;
      return { ...work, priceMicroUsd, ...(quoteId === null ? {} : { extra: { quote_id: quoteId } }) };
    },
    {
      bodyBytesMax,
      extensions: bazaarExtension({ ...EXAMPLE_CALL, output: { choices: [], receipt: "eyJ…" } }),
    },
  );
}

function taskRoute(
  operation: ChatOperations["postTask"],
  { paid, taskTariff, tasks, bodyBytesMax, step }: ChatRouteDependencies,
): Route {
  return paid(
    operation,
    async (call, body) => {
      requireJson(call.request);
      const { request, price } = await readCall(body, taskTariff, NO_HEADERS, step);
      if (request.isStream) throw new ParamError("invalid_request", "A task has no stream.", "stream");
      return { priceMicroUsd: price.microUsd, work: () => Promise.reject(new Error("done by the task")) };
    },
    {
      bodyBytesMax,
      take: tasks.take,
      extensions: bazaarExtension({
        ...EXAMPLE_CALL,
        output: { task_id: "task_…", status_url: "https://…" },
      }),
    },
  );
}

function quoteRoute({ routing, tariff, bodies, bodyBytesMax, step }: ChatRouteDependencies): Route {
  return routing.public(postQuote, async (call) => {
    requireJson(call.request);
    const tenant = clientAddressKey(call.clientAddress());
    using held = await bodies.read(call.request, { tenant, callBytesMax: bodyBytesMax });
    const { request, requestSha256, price } = await readCall(held.bytes, tariff, NO_HEADERS, step);
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
}

/** How a call is made, for agents that read it in the challenge. */
const EXAMPLE_CALL = {
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
  step: Steps,
): (call: SentCall, signal: AbortSignal) => ChatWork {
  return ({ request: sent, offer }, signal) => {
    const made = loadedOnce(async () => {
      // One character a byte, behind the line of the request.
      const body = Buffer.from(sent.slice(sent.indexOf("\n") + 1), "latin1");
      const { request, requestSha256, price } = await readCall(body, tariff, NO_HEADERS, step);
      const resourceUrl = offer.resource.url;
      const { origin } = new URL(resourceUrl);
      return chatWork({
        request,
        requestSha256,
        resourceUrl,
        origin,
        upstreamModel: price.upstreamModel,
        signal,
        quoteId: null,
        admit: () => {},
      });
    });
    return {
      work: async (payment) => (await made.get()).work(payment),
      finish: async (answer, payment) => (await made.get()).finish(answer, payment),
    };
  };
}

/** Reads what is asked and what it costs: where the body is large, in steps. */
async function readCall(
  body: Uint8Array,
  tariff: Tariff,
  headers: { get(name: string): string | null },
  steps: Steps,
): Promise<{ readonly request: ChatRequest; readonly requestSha256: string; readonly price: Price }> {
  const step = body.byteLength > SMALL_BODY_BYTES_MAX ? steps : atOnce;
  const read = await readChatRequest(body, step);
  if (!read.ok) throw new ParamError(read.code, read.message, read.param);
  const { request } = read;
  const requestSha256 = await sha256InSteps(body, step);
  return { request, requestSha256, price: await step(() => tariff.priceOf(request, requestSha256, headers)) };
}

/** A quote buys within its time; a payment that has bought already still gets its answer. */
function admission({ clock, payments }: ChatRouteDependencies, { expiresAt }: Price): ChatCall["admit"] {
  return ({ paymentId }) => {
    if (expiresAt === null || clock.now() <= expiresAt || payments.find(paymentId) !== null) return;
    throw quoteExpired();
  };
}
