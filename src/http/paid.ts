import { parseUsd } from "../billing/money.ts";
import { clientAddressKey } from "../billing/rate-limiter.ts";
import { ApiError } from "../contract/errors.ts";
import type { Operation } from "../contract/specification/operation.ts";
import type { Offer } from "../payments/offer.ts";
import type { PaidCall, PaidReply } from "../payments/paid-call.ts";
import type { Payments } from "../payments/payments.ts";
import type { BodyReader } from "./bodies/body-reader.ts";
import { relayedStream } from "./bodies/relayed-stream.ts";
import type { Call } from "./call.ts";
import { requestPath } from "./request-path.ts";
import type { Route, Routing } from "./routing.ts";

/** What a paid route says of one call, once it has read what is asked. */
export type PaidWork = Pick<PaidCall, "work" | "finish"> & {
  /** Above 0. That of the operation unless given, which must then be a fixed one. */
  readonly priceMicroUsd?: number;
  /** Entries for `extra` of every requirement, such as the id of a quote. The payer must send them back. */
  readonly extra?: Offer["extra"];
};

/** Reads what is asked. Throws an ApiError where it is refused, which costs nothing and asks for no payment. */
export type PrepareWork = (call: Call, body: Uint8Array) => PaidWork | Promise<PaidWork>;

export type PaidRouteOptions = {
  /** Version 2 extensions of every challenge, by name: see `bazaarExtension`. */
  readonly extensions?: Offer["extensions"];
  /** Of the body; larger ones are 413. */
  readonly bodyBytesMax: number;
  /** Takes the payments in place of the usual: to answer before the work is done. */
  readonly take?: Payments["take"];
};

/** Registers an operation that has a price. */
export type Paid = (operation: Operation, prepare: PrepareWork, options: PaidRouteOptions) => Route;

export type PaidDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly payments: Pick<Payments, "take" | "idOf">;
  /** Holds bodies until their calls are answered, as nobody has paid for their memory yet. */
  readonly bodies: Pick<BodyReader, "read">;
  /** Returns the origin under which callers reach this server; challenges bind payments to addresses there. */
  readonly originOf: (request: Request) => string;
  /** A reader of a stream that takes nothing for this long is given up. */
  readonly readerStallMs: number;
};

/** Browsers read these headers of a reply only where they are named. */
const EXPOSED =
  "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Payment-Id, X-Request-Id, Retry-After";
/** As JSON: the challenge names the address in a header of at most 8 KB, which more than 6,000 would fill. */
const ADDRESS_LENGTH_MAX = 4096;
const NO_BODY = new Uint8Array(0);
const NO_HEADERS = { get: () => null };

/**
 * Returns what registers paid routes: the bracket that no paid work can be done outside of. A service passes in an
 * operation with a `price`, and `prepare`, which reads the call and returns the work. What then happens, in order:
 *
 * 1. A call that asks nothing (no body, no query) and every HEAD is 402 with the challenge, so that a price can be
 *    learned without knowing how to ask. `prepare` runs for all others, and may refuse them for nothing.
 * 2. Without a payment: 402 `payment_required`, in the header of x402 version 2 and in the body of both versions.
 * 3. With one: it is matched, verified and reserved (402 `payment_invalid`, 409 `payment_in_use`, 502, 503).
 * 4. `work` runs, with the payment. What it throws, and an answer that is no 2xx, is answered and costs nothing.
 * 5. The payment is settled. An answer `{ kind: "answer", status, headers, body }` then leaves, and is kept for 24 hours
 *    for the same payment. A `{ kind: "stream", start, cancel }` is returned once its first byte is there: it is settled
 *    before that byte leaves, `start` begins the reply, `cancel` is called where it was not settled.
 * 6. `finish` puts into the answer what only the settled payment shows, such as a receipt; it must be the same each
 *    time, as it runs again for an answer that was kept. A stream does that itself, in `start`.
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

    async function answer(call: Call): Promise<PaidReply> {
      const { method, headers, url } = call.request;
      const { pathname, search } = requestPath(url);
      const paymentId = payments.idOf(headers);
      if (paymentId !== null) call.headers["X-Payment-Id"] = paymentId;
      using held = method === "POST" ? await readBody(call) : null;
      const body = held === null ? NO_BODY : held.bytes;
      // Work and settlement may take longer than connections may be silent; bodies may not.
      call.suspendIdleTimeout();
      const isPaying = headers.has("payment-signature") || headers.has("x-payment");
      const asksNothing = body.byteLength === 0 && search === "";
      if (method === "HEAD" || (asksNothing && !isPaying)) {
        return await payments.take({ ...UNPAID, offer: offerOf(call, {}), headers: NO_HEADERS });
      }
      const work = await prepare(call, body);
      return await take({
        ...work,
        offer: offerOf(call, work),
        headers,
        // One character a byte, so that no two bodies are the same text.
        request: `${method} ${pathname}${search}\n${Buffer.from(body).toString("latin1")}`,
      });
    }

    return routing.public(operation, async (call) => {
      call.headers["Access-Control-Expose-Headers"] = EXPOSED;
      const { body, ...reply } = await answer(call);
      if (typeof body === "string") {
        return { ...reply, body, headers: { "Cache-Control": "no-store", ...reply.headers } };
      }
      // Compression would hold a reader that leaves until the source speaks again.
      const headers = { ...reply.headers, "Cache-Control": "no-store, no-transform" };
      call.streaming = true;
      const onEnd = (isComplete: boolean) => call.finish(reply.status, isComplete ? "complete" : "cut");
      const options = { stallMs: readerStallMs, onEnd, onError: (error: unknown) => call.reportError(error) };
      return { ...reply, headers, body: relayedStream(body, options) };
    });
  };
}

/** A call without a payment: nothing is worked for it. */
const UNPAID = {
  request: "",
  work: () => Promise.reject(new Error("work without a payment")),
} satisfies Partial<PaidCall>;
