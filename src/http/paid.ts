import { parseUsd } from "../billing/money.ts";
import { ApiError } from "../contract/errors.ts";
import type { Operation } from "../contract/specification/operation.ts";
import type { Offer } from "../payments/offer.ts";
import type { PaidCall, PaidReply } from "../payments/paid-call.ts";
import type { Payments } from "../payments/payments.ts";
import type { BodyReader } from "./bodies/body-reader.ts";
import { relayedStream } from "./bodies/relayed-stream.ts";
import type { Call, Handler } from "./call.ts";
import { clientAddressKey } from "./client-address-key.ts";
import { requestPath } from "./request-path.ts";
import type { Route, Routing } from "./routing.ts";

/** The work of one paid call, and its price. */
export type PaidWork = Pick<PaidCall, "work" | "finish" | "mismatch" | "refused"> & {
  /** Above 0. The operation's fixed price unless given. */
  readonly priceMicroUsd?: number;
  /** Entries for `extra` of every requirement, such as the id of a quote. The payer must send them back. */
  readonly extra?: Offer["extra"];
};

/** Reads the call. Throws an ApiError to refuse it, which costs nothing and asks for no payment. */
export type PrepareWork = (call: Call, body: Uint8Array) => PaidWork | Promise<PaidWork>;

export type PaidRouteOptions = {
  /** Version 2 extensions of every challenge, by name: see `bazaarExtension`. */
  readonly extensions?: Offer["extensions"];
  /** Larger bodies are 413. */
  readonly bodyBytesMax: number;
  /** Takes the payment instead of `payments.take`: to answer before the work is done. */
  readonly take?: Payments["take"];
};

/** Registers an operation that has a price. */
export type Paid = (operation: Operation, prepare: PrepareWork, options: PaidRouteOptions) => Route;

export type PaidDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly payments: Pick<Payments, "take" | "idOf">;
  /** Bounds the memory of bodies until their calls are answered. */
  readonly bodies: Pick<BodyReader, "read">;
  /** Returns the origin under which callers reach this server; challenges bind payments to addresses there. */
  readonly originOf: (request: Request) => string;
  /** A stream is cancelled once its reader takes nothing for this time. */
  readonly readerStallMs: number;
};

/**
 * The headers that pages of other origins may read, one by one: `*` is none for a call with credentials. A client that
 * cannot read `x-should-retry` sends again by itself, and signs a second payment.
 */
const EXPOSED = [
  "PAYMENT-REQUIRED",
  "PAYMENT-RESPONSE",
  "X-PAYMENT-RESPONSE",
  "X-Payment-Id",
  "X-Receipt-Id",
  "X-Verify-Url",
  "X-Request-Id",
  "Retry-After",
  "x-should-retry",
].join(", ");
/** Characters of an address as JSON: the challenge repeats it in a header of at most 8 KB. */
const ADDRESS_LENGTH_MAX = 4096;
const NO_BODY = new Uint8Array(0);
const NO_HEADERS = { get: () => null };

/**
 * Creates the registration of paid routes; no paid work runs outside of it. A service passes an operation with a `price`,
 * and `prepare`, which reads the call and returns the work. Then, in order:
 *
 * 1. A call without body and query, and every HEAD, is 402 with the challenge, so that the price can be read without
 *    knowing the input. `prepare` runs for all others, and may refuse them at no cost.
 * 2. Without a payment: 402 `payment_required`, in the header of x402 version 2 and in the body of both versions.
 * 3. With one: it is matched, verified and reserved (402 `payment_invalid`, 409 `payment_in_use`, 502, 503).
 * 4. `work` runs, with the payment. Where it throws, or its answer is not a 2xx, the call costs nothing.
 * 5. The payment is settled. An answer `{ kind: "answer", status, headers, body }` then leaves, and is kept for 24 hours
 *    for the same payment. A `{ kind: "stream", start, cancel }` is returned once its first byte is there: it is settled
 *    before that byte leaves, `start` begins the reply, `cancel` is called where it was not settled.
 * 6. `finish` adds to the answer what depends on the settled payment, such as a receipt. It must be deterministic, as it
 *    runs again for a kept answer. A stream does that itself, in `start`.
 *
 * `work` runs again for a settled payment whose answer was lost with the process, and is not charged again.
 *
 * @example
 * const paid = createPaid({ routing, payments, bodies, originOf, readerStallMs: 60_000 });
 * const route = paid({ ...convert, price: { mode: "fixed", amountUsd: "0.01" } }, (call, body) => {
 *   const asked = readBody(parseJson(body));
 *   return {
 *     work: async () => ({ kind: "answer", status: 200, headers: {}, body: JSON.stringify(await convertOne(asked)) }),
 *   };
 * }, { bodyBytesMax: 131_072 });
 */
export function createPaid(dependencies: PaidDependencies): Paid {
  const { routing, payments, bodies, originOf, readerStallMs } = dependencies;
  return (operation, prepare, { extensions, bodyBytesMax, take = payments.take }) => {
    const { price } = operation;
    if (price === undefined) throw new Error(`${operation.operationId} has no price`);
    const usualMicroUsd = parseUsd(price.mode === "fixed" ? price.amountUsd : price.minUsd);
    if (usualMicroUsd === null) throw new Error(`${operation.operationId} has a price that cannot be read`);
    const offerOf = (call: Call, { priceMicroUsd = usualMicroUsd, extra }: Partial<PaidWork>): Offer => {
      const { pathname, search } = requestPath(call.request.url);
      const url = `${originOf(call.request)}${pathname}${search}`;
      if (JSON.stringify(url).length > ADDRESS_LENGTH_MAX) {
        throw new ApiError("invalid_request", `The address passes ${ADDRESS_LENGTH_MAX} characters.`);
      }
      return {
        resource: { url, description: operation.summary, mimeType: "application/json" },
        priceMicroUsd,
        ...(extra === undefined ? {} : { extra }),
        ...(extensions === undefined ? {} : { extensions }),
      };
    };

    const readBody = (call: Call) =>
      bodies.read(call.request, {
        tenant: clientAddressKey(call.clientAddress()),
        callBytesMax: bodyBytesMax,
      });

    /** Returns the 402 of a call without a payment. */
    const challenge = (call: Call): Promise<PaidReply> =>
      payments.take({ ...UNPAID, offer: offerOf(call, {}), headers: NO_HEADERS });

    async function answer(call: Call): Promise<PaidReply> {
      const { method, headers, url } = call.request;
      const { pathname, search } = requestPath(url);
      using held = method === "POST" ? await readBody(call) : null;
      const body = held === null ? NO_BODY : held.bytes;
      // Work and settlement may take longer than the idle timeout; receiving the body may not.
      call.suspendIdleTimeout();
      const isPaying = headers.has("payment-signature") || headers.has("x-payment");
      const asksNothing = body.byteLength === 0 && search === "";
      if (method === "HEAD" || (asksNothing && !isPaying)) return await challenge(call);
      const work = await prepare(call, body);
      return await take({
        ...work,
        tenant: clientAddressKey(call.clientAddress()),
        offer: offerOf(call, work),
        headers,
        // One character for each byte, so that different bodies are different texts.
        request: `${method} ${pathname}${search}\n${Buffer.from(body).toString("latin1")}`,
      });
    }

    const route = routing.public(operation, async (call) => {
      const { body, ...reply } = await answer(call);
      if (typeof body === "string") {
        return { ...reply, body, headers: { "Cache-Control": "no-store", ...reply.headers } };
      }
      // A compressor would notice a reader that leaves only with the next byte of the source.
      const headers = { ...reply.headers, "Cache-Control": "no-store, no-transform" };
      call.streaming = true;
      const onEnd = (isComplete: boolean) => call.finish(reply.status, isComplete ? "complete" : "cut");
      const options = { stallMs: readerStallMs, onEnd, onError: (error: unknown) => call.reportError(error) };
      return { ...reply, headers, body: relayedStream(body, options) };
    });
    // Before the rate limit, as its refusals name the payment, too.
    const handler: Handler = (call) => {
      call.headers["Access-Control-Expose-Headers"] = EXPOSED;
      const paymentId = payments.idOf(call.request.headers);
      if (paymentId !== null) call.headers["X-Payment-Id"] = paymentId;
      return route.handler(call);
    };
    return { ...route, handler };
  };
}

/** The work of a call without a payment, which never runs. */
const UNPAID = {
  request: "",
  work: () => Promise.reject(new Error("work without a payment")),
} satisfies Partial<PaidCall>;
