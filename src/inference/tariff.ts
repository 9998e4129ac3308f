import { formatUsd } from "../billing/money.ts";
import { readPayment } from "../payments/x402-codec.ts";
import type { ChatRequest } from "./chat-request.ts";
import { type BoundCost, boundCost } from "./cost-bound.ts";
import type { ModelTable } from "./model-table.ts";
import { ParamError } from "./param-error.ts";
import type { Quotes } from "./quote.ts";
import { findUnpriced } from "./unpriced.ts";

/** The pricing of calls: a flat price, or the most that each can cost. */
export type Pricing =
  | { readonly kind: "flat"; readonly models: ModelTable | null }
  | { readonly kind: "cost_plus"; readonly models: ModelTable };

/** The price of one call. */
export type Price = {
  readonly microUsd: number;
  /** Null for a flat price. */
  readonly quoteId: string | null;
  readonly expiresAt: number | null;
  /** The calculation of a quoted price. */
  readonly bound: { readonly inputTokens: number; readonly outputTokens: number } | null;
  /** Null where the model is not served any more. */
  readonly upstreamModel: string | null;
  /** Why the call is not sold any more. */
  readonly refused?: ParamError;
};

export type Tariff = {
  /**
   * Returns the price of a request: that of the payment's quote if it is for this request, else that of the current table.
   * Throws ApiError for a model that is not served, or parts without a price.
   */
  readonly priceOf: (
    request: ChatRequest,
    requestSha256: string,
    headers: { get(name: string): string | null },
  ) => Price;
  /** Returns the name at the upstream of a model, or null where it is not served. */
  readonly upstreamModelOf: (model: string) => string | null;
};

export const FLAT_MICRO_USD = 10_000;

export function createTariff(pricing: Pricing, quotes: Quotes): Tariff {
  const { models } = pricing;
  const upstreamModelOf = (name: string) =>
    models === null ? name : (models.find(name)?.upstreamModel ?? null);
  return {
    upstreamModelOf,
    priceOf(request, requestSha256, headers) {
      const upstreamModel = upstreamModelOf(request.model);
      if (upstreamModel === null) throw notServed(request.model);
      const model = models?.find(request.model);
      if (pricing.kind === "flat" || model === undefined) {
        const unpriced = findUnpriced(request.body);
        if (unpriced !== null) throw new ParamError("invalid_request", unpriced.message, unpriced.param);
        return flatPrice(upstreamModel);
      }
      const cost = boundCost(request, model);
      if (!cost.ok) throw new ParamError("invalid_request", cost.message, cost.param);
      const quote =
        quoteOfPayment(quotes, requestSha256, headers) ?? quotes.make(requestSha256, cost.microUsd);
      return { ...quote, bound: boundOf(cost), upstreamModel };
    },
  };
}

/** Returns the tariff of tasks: all cost the same, and one that could cost more by the table is refused. */
export function createTaskTariff(pricing: Pricing, quotes: Quotes): Tariff {
  const flat = createTariff({ kind: "flat", models: pricing.models }, quotes);
  if (pricing.kind === "flat") return flat;
  const byTokens = createTariff(pricing, quotes);
  return {
    ...flat,
    priceOf(request, requestSha256, headers) {
      const { microUsd } = byTokens.priceOf(request, requestSha256, { get: () => null });
      if (microUsd <= FLAT_MICRO_USD) return flat.priceOf(request, requestSha256, headers);
      const [task, most] = [FLAT_MICRO_USD, microUsd].map(formatUsd);
      const message = `A task costs ${task} USD, and this one may cost ${most}: lower max_tokens, or call /v1/chat/completions.`;
      throw new ParamError("invalid_request", message, "max_tokens");
    },
  };
}

/**
 * Returns the tariff of calls that may be bought already, and of tasks that are taken. One that was bought, and that the
 * current table refuses, has its refusal in the price, so that it is delivered, of a model that is still served. `isBought`
 * is asked for such calls alone.
 */
export function boughtTariff({ priceOf, upstreamModelOf }: Tariff, isBought: () => boolean): Tariff {
  return {
    upstreamModelOf,
    priceOf(request, requestSha256, headers) {
      try {
        return priceOf(request, requestSha256, headers);
      } catch (refused) {
        if (!(refused instanceof ParamError) || !isBought()) throw refused;
        return { ...flatPrice(upstreamModelOf(request.model)), refused };
      }
    },
  };
}

/** Returns the refusal of a model that is not in the table. */
export function notServed(model: string): ParamError {
  const quoted = JSON.stringify(model.slice(0, 80));
  return new ParamError("not_found", `The model ${quoted} is not served here.`, "model");
}

function flatPrice(upstreamModel: string | null): Price {
  return { microUsd: FLAT_MICRO_USD, quoteId: null, expiresAt: null, bound: null, upstreamModel };
}

function boundOf({ inputTokens, outputTokens }: Extract<BoundCost, { ok: true }>) {
  return { inputTokens, outputTokens };
}

/** Returns the id of the quote in the requirement that a payment repeats. */
function quoteOfPayment(
  quotes: Quotes,
  requestSha256: string,
  headers: { get(name: string): string | null },
) {
  const read = readPayment(headers);
  if (read.kind !== "payment") return null;
  const { amount, extra } = read.payment.accepted as {
    readonly amount?: unknown;
    readonly extra?: { readonly quote_id?: unknown } | null;
  };
  const quoteId = extra?.quote_id;
  if (typeof quoteId !== "string" || typeof amount !== "string" || !/^\d{1,15}$/.test(amount)) return null;
  return quotes.find(quoteId, requestSha256, Number(amount));
}
