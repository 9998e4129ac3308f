import type { AnyElysia } from "elysia";
import { ApiError } from "../../src/contract/errors.ts";
import { type Operation, operation } from "../../src/contract/specification/operation.ts";
import { createBodyReader } from "../../src/http/bodies/body-reader.ts";
import { mountRoutes } from "../../src/http/mount.ts";
import { createPaid, type PaidWork } from "../../src/http/paid.ts";
import { paymentRoutes } from "../../src/http/routes/payments.ts";
import type { Routing } from "../../src/http/routing.ts";
import { systemAddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { createFacilitator } from "../../src/payments/facilitator.ts";
import { createFacilitatorFetch } from "../../src/payments/facilitator-fetch.ts";
import { findNetwork } from "../../src/payments/networks.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { testBoundary } from "./boundary.ts";

export type PaidServerOptions = {
  /** Null for a database in memory. */
  readonly dataDir: string | null;
  readonly facilitatorUrl: string;
  readonly payeeOnBase: string;
  readonly payeeOnSolana: string;
  readonly work: PaidWork["work"];
  readonly settleDeadlineMs?: number;
};

export const PRICE_MICRO_USD = 50_000;

const PAID_OPERATION: Operation = operation({
  operationId: "paidAnswer",
  method: "POST",
  path: "/v1/paid",
  tag: "Test",
  summary: "An answer.",
  access: "public",
  price: { mode: "fixed", amountUsd: "0.05" },
  replies: { 200: { description: "The answer." } },
});

/** A server with one paid route, `POST /v1/paid`, at 0.05 USD. */
export function startPaidServer(options: PaidServerOptions) {
  const { dataDir, facilitatorUrl, payeeOnBase, payeeOnSolana, work, settleDeadlineMs = 5000 } = options;
  const bugs: unknown[] = [];
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const database = openPayments(dataDir, clock);
  const facilitator = createFacilitator({
    url: facilitatorUrl,
    fetch: createFacilitatorFetch(
      createHttpClient({ lookUp: systemAddressLookup, clock: systemClock }, { allowPrivate: true }),
    ),
    verifyDeadlineMs: settleDeadlineMs,
    settleDeadlineMs,
  });
  const turns = createFairTurns(systemClock.monotonic);
  const payments = createPayments(
    { store: database.payments, facilitator, clock, turns, reportError: (error) => bugs.push(error) },
    {
      payees: [payee("base", payeeOnBase), payee("solana", payeeOnSolana)],
      pollDelayMs: 50,
      inFlightMax: 2000,
      inFlightPerPayerMax: 50,
    },
  );
  payments.start();
  let calls = 0;
  const boundary = testBoundary({
    newRequestId: () => `req_${++calls}`,
    // So that one test can call from several addresses.
    trustProxy: true,
    server: () => app.server,
    reportBug: (_call, error) => bugs.push(error),
  });
  const routing: Pick<Routing, "public"> = {
    public: (described, handler) => ({ ...described, handler, operation: described }),
  };
  const originOf = (request: Request) => new URL(request.url).origin;
  const bodies = createBodyReader({ bytesMax: 65_536, heldBytesMax: 1_048_576 });
  const paid = createPaid({ routing, payments, bodies, originOf, readerStallMs: 5000 });
  const route = paid(
    PAID_OPERATION,
    (_call, body) => {
      if (Buffer.from(body).toString() === "refuse me") throw new ApiError("invalid_request");
      return { work };
    },
    { bodyBytesMax: 65_536 },
  );
  const app: AnyElysia = mountRoutes([...paymentRoutes({ routing, payments }), route], boundary);
  app.listen({ hostname: "127.0.0.1", port: 0 });
  return {
    url: `${app.server?.url.origin}/v1/paid`,
    origin: app.server?.url.origin ?? "",
    payments,
    store: database.payments,
    bugs,
    /** Puts the clock of the payments forward. */
    advance(ms: number) {
      aheadMs += ms;
    },
    async stop() {
      await app.stop(true);
      await payments[Symbol.asyncDispose]();
      database[Symbol.dispose]();
    },
  };
}

function payee(alias: string, payTo: string) {
  const network = findNetwork(alias);
  if (network === null) throw new Error(`no network ${alias}`);
  return { network, payTo };
}
