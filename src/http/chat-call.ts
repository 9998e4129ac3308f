import type { ChatCall, ChatWork } from "../inference/chat.ts";
import { type ChatRequest, readChatRequest } from "../inference/chat-request.ts";
import { ParamError } from "../inference/param-error.ts";
import { boughtTariff, type Price, type Tariff } from "../inference/tariff.ts";
import type { SentCall } from "../inference/tasks.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { sha256InSteps } from "../platform/sha256.ts";
import { atOnce, type Steps } from "../platform/steps.ts";
import { SMALL_BODY_BYTES_MAX } from "./bodies/request-body.ts";

/** The headers of calls that cannot name a quote. */
export const WITHOUT_HEADERS = { get: () => null };

/** A chat request with its price. */
export type ReadChatCall = {
  readonly request: ChatRequest;
  readonly requestSha256: string;
  readonly price: Price;
};

/** Reads a chat request and prices it; a large body in steps. Throws ParamError. */
export async function readChatCall(
  body: Uint8Array,
  tariff: Tariff,
  headers: { get(name: string): string | null },
  steps: Steps,
): Promise<ReadChatCall> {
  const step = body.byteLength > SMALL_BODY_BYTES_MAX ? steps : atOnce;
  const read = await readChatRequest(body, step);
  if (!read.ok) throw new ParamError(read.code, read.message, read.param);
  const { request } = read;
  const requestSha256 = await sha256InSteps(body, step);
  return { request, requestSha256, price: await step(() => tariff.priceOf(request, requestSha256, headers)) };
}

/** Returns a function that turns the stored call of a task into its work. */
export function taskWork(
  chatWork: (call: ChatCall) => ChatWork,
  tariff: Tariff,
  step: Steps,
): (call: SentCall, signal: AbortSignal) => ChatWork {
  return ({ request: sent, offer }, signal) => {
    const made = loadedOnce(async () => {
      // The request line, and behind it one character for each byte of the body.
      const body = Buffer.from(sent.slice(sent.indexOf("\n") + 1), "latin1");
      // A task keeps the price at which it was taken.
      const bought = boughtTariff(tariff, () => true);
      const { request, requestSha256, price } = await readChatCall(body, bought, WITHOUT_HEADERS, step);
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
      });
    });
    return {
      work: async (payment) => (await made.get()).work(payment),
      finish: async (answer, payment) => (await made.get()).finish(answer, payment),
    };
  };
}
