import { formatUsd } from "../../billing/money.ts";
import { chatOperations, postQuote } from "../../contract/specification/inference/chat.ts";
import type { Price as OperationPrice } from "../../contract/specification/operation.ts";
import type { ChatCall, ChatWork } from "../../inference/chat.ts";
import { ParamError } from "../../inference/param-error.ts";
import { boughtTariff, type Price, type Tariff } from "../../inference/tariff.ts";
import type { Tasks } from "../../inference/tasks.ts";
import { bazaarExtension } from "../../payments/bazaar.ts";
import type { Payments } from "../../payments/payments.ts";
import type { Steps } from "../../platform/steps.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import { requireJson } from "../bodies/request-body.ts";
import { readChatCall, WITHOUT_HEADERS } from "../chat-call.ts";
import { clientAddressKey } from "../client-address-key.ts";
import { withOpenAiErrors } from "../openai-errors.ts";
import type { Paid } from "../paid.ts";
import { json } from "../reply.ts";
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
  readonly payments: Pick<Payments, "find" | "idOf">;
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
  return routes.map(withOpenAiErrors);
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
      requireJson(call.request, body);
      const { headers } = call.request;
      const sold = boughtTariff(tariff, () => isBought(dependencies, headers));
      const { request, requestSha256, price: asked } = await readChatCall(body, sold, headers, step);
      const isLate = isTooLate(dependencies, asked, headers);
      // Its payment fits no new quote, so the call is challenged again.
      const price = isLate ? tariff.priceOf(request, requestSha256, WITHOUT_HEADERS) : asked;
      const origin = originOf(call.request);
      const work = chatWork({
        request,
        requestSha256,
        origin,
        resourceUrl: `${origin}${requestPath(call.request.url).pathname}`,
        quoteId: price.quoteId,
        upstreamModel: price.upstreamModel,
        signal: call.request.signal,
      });
      const { microUsd: priceMicroUsd, quoteId, refused } = price;
      const extra = quoteId === null ? {} : { extra: { quote_id: quoteId } };
      const late = isLate ? { mismatch: "the quote has expired" } : {};
      return { ...work, priceMicroUsd, ...extra, ...late, ...(refused === undefined ? {} : { refused }) };
    },
    {
      bodyBytesMax,
      extensions: bazaarExtension({ ...EXAMPLE_CALL, output: { choices: [], receipt: "eyJ…" } }),
    },
  );
}

function taskRoute(
  operation: ChatOperations["postTask"],
  { paid, taskTariff, tasks, payments, bodyBytesMax, step }: ChatRouteDependencies,
): Route {
  return paid(
    operation,
    async (call, body) => {
      requireJson(call.request, body);
      const sold = boughtTariff(taskTariff, () => isBought({ payments }, call.request.headers));
      const { request, price } = await readChatCall(body, sold, WITHOUT_HEADERS, step);
      if (request.isStream) throw new ParamError("invalid_request", "A task has no stream.", "stream");
      const { microUsd: priceMicroUsd, refused } = price;
      const more = refused === undefined ? {} : { refused };
      return { ...more, priceMicroUsd, work: () => Promise.reject(new Error("done by the task")) };
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
    const tenant = clientAddressKey(call.clientAddress());
    using held = await bodies.read(call.request, { tenant, callBytesMax: bodyBytesMax });
    requireJson(call.request, held.bytes);
    const { request, requestSha256, price } = await readChatCall(held.bytes, tariff, WITHOUT_HEADERS, step);
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

/** A call as the challenge shows it to agents. */
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

/** Returns whether the quote of a call has expired, and its payment has bought nothing before that. */
function isTooLate(
  { clock, payments }: ChatRouteDependencies,
  { expiresAt }: Price,
  headers: Headers,
): boolean {
  return expiresAt !== null && clock.now() > expiresAt && !isBought({ payments }, headers);
}

/** Returns whether the payment of a call is in the journal. */
function isBought({ payments }: Pick<ChatRouteDependencies, "payments">, headers: Headers): boolean {
  const paymentId = payments.idOf(headers);
  return paymentId !== null && payments.find(paymentId) !== null;
}
