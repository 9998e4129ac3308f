import { formatUsd } from "../billing/money.ts";
import { isObject } from "../platform/json-value.ts";
import { type ChatRequest, LIMIT_FIELDS } from "./chat-request.ts";
import type { JsonObject, JsonValue } from "./choices.ts";
import type { Model } from "./model-table.ts";
import { findUnpriced, type Unpriced } from "./unpriced.ts";

/** The most that a call can cost, and its token counts. */
export type CostBound = {
  readonly inputTokens: number;
  /** For all choices together. */
  readonly outputTokens: number;
  readonly microUsd: number;
};

export type BoundCost =
  | ({ readonly ok: true } & CostBound)
  | { readonly ok: false; readonly message: string; readonly param: string };

/** The minimum price of a call. */
export const MIN_MICRO_USD = 2000;
/** The maximum; a call that may cost more is refused. Far inside the exact integers. */
export const MAX_MICRO_USD = 1_000_000_000;

/** Tokens that a chat template adds to each message, and once; no known one adds more. */
const TOKENS_AROUND_MESSAGE = 16;
const TOKENS_AROUND_ALL = 256;

/**
 * Returns the most that a call can cost: each token stands for at least one byte of what the model reads, and output
 * goes up to the caller's limit or the model's. Rounded up to the millionth of a dollar, and never under 0.002 USD.
 * Linear in the request.
 */
export function boundCost(request: ChatRequest, model: Model): BoundCost {
  const unpriced = findUnpriced(request.body) ?? overMax(request, model);
  if (unpriced !== null) return { ok: false, ...unpriced };
  const { images, imageBytes, others } = countParts(request.messages);
  if (others !== null) {
    return { ok: false, message: `Parts of type ${others} have no price here.`, param: "messages" };
  }
  if (images > 0 && model.imageTokensMax === null) {
    return { ok: false, message: `${model.model} takes no images here.`, param: "messages" };
  }
  const inputTokens =
    readBytes(request) -
    imageBytes +
    request.messages.length * TOKENS_AROUND_MESSAGE +
    TOKENS_AROUND_ALL +
    images * (model.imageTokensMax ?? 0);
  const outputTokens = (request.outputTokensMax ?? model.outputTokensMax) * request.choices;
  // The upstream refuses input beyond the model's context.
  const readTokens = Math.min(inputTokens, model.contextTokens);
  const microUsd = priceOf(model, readTokens, outputTokens);
  if (microUsd > MAX_MICRO_USD) return { ok: false, message: TOO_DEAR, param: "max_tokens" };
  return { ok: true, inputTokens, outputTokens, microUsd };
}

const TOO_DEAR = `A call costs at most ${formatUsd(MAX_MICRO_USD)} USD, and this one may cost more: lower max_tokens or n.`;

/** The body is passed on as it is, so a limit beyond the table's would be another than the one that is priced. */
function overMax({ body }: ChatRequest, { model, outputTokensMax }: Model): Unpriced | null {
  const param = LIMIT_FIELDS.find((name) => Number(body[name]) > outputTokensMax);
  const message = `${model} makes at most ${outputTokensMax} tokens for each choice: lower ${param}.`;
  return param === undefined ? null : { message, param };
}

/**
 * Returns the bytes of what the model reads, in the shortest JSON but for its numbers: one of 400 digits, which is infinite
 * in JavaScript, reaches the upstream to the letter.
 */
function readBytes({ text, members }: ChatRequest): number {
  // A character takes a byte, and more beyond ASCII; each value has a comma or bracket behind it.
  const beyondAscii = Buffer.byteLength(text) - text.length;
  let bytes = "[".length + members.characters + members.count + beyondAscii;
  for (const { start, end, surplus } of members.byName.values()) {
    bytes -= Buffer.byteLength(text.slice(start, end)) - surplus + 1;
  }
  return bytes;
}

/** Returns the address of an image, which may be the image itself: it counts by the table and not by its length. */
function addressOf(part: JsonValue): string {
  const image = isObject(part) ? part.image_url : null;
  const address = isObject(image) ? image.url : image;
  return typeof address === "string" ? address : "";
}

function priceOf(model: Model, inputTokens: number, outputTokens: number): number {
  const cost =
    BigInt(inputTokens) * BigInt(model.inputMicroUsdPerMillion) +
    BigInt(outputTokens) * BigInt(model.outputMicroUsdPerMillion);
  const scaled = cost * BigInt(10_000 + model.marginBasisPoints);
  const divisor = 1_000_000n * 10_000n;
  const microUsd = Number((scaled + divisor - 1n) / divisor);
  return Math.max(MIN_MICRO_USD, microUsd);
}

/** Counts images, and names the first part of a kind whose tokens its bytes do not bound. */
function countParts(messages: readonly JsonObject[]): {
  readonly images: number;
  readonly imageBytes: number;
  readonly others: string | null;
} {
  let images = 0;
  let imageBytes = 0;
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const part of content as readonly JsonValue[]) {
      const type = isObject(part) ? part.type : null;
      if (type === "image_url") {
        images += 1;
        imageBytes += Buffer.byteLength(addressOf(part));
      } else if (type !== "text" && type !== "refusal") {
        return { images, imageBytes, others: String(type).slice(0, 40) };
      }
    }
  }
  return { images, imageBytes, others: null };
}
