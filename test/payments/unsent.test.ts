import { expect, test } from "bun:test";
import type { AddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import type { OutgoingDependencies } from "../../src/net/target-connection.ts";
import { createFacilitator } from "../../src/payments/facilitator.ts";
import { createFacilitatorFetch } from "../../src/payments/facilitator-fetch.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { freePort } from "../support/free-port.ts";

/** Which settlements surely never reached the facilitator, and which may have. */

const REQUEST = { x402Version: 2, paymentPayload: {}, paymentRequirements: {} } as const;
const DEADLINE_MS = 200;
const here: AddressLookup = async () => ({ ok: true, addresses: ["127.0.0.1"] });

async function settleAt(url: string, dependencies: Partial<OutgoingDependencies> = {}) {
  const client = createHttpClient(
    { lookUp: here, clock: systemClock, ...dependencies },
    { allowPrivate: true, limits: { lookupTimeoutMs: 20, connectTimeoutMs: 20 } },
  );
  const facilitator = createFacilitator({
    url,
    fetch: createFacilitatorFetch(client),
    verifyDeadlineMs: DEADLINE_MS,
    settleDeadlineMs: DEADLINE_MS,
  });
  return (await facilitator.settle(REQUEST)).kind;
}

/** A server that is sent a request and does something else than answer it. */
function startServer(received: (socket: Bun.Socket) => void) {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: received } });
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) };
}

test("what ends before the request is written was never sent", async () => {
  const never = () => new Promise<never>(() => {});
  const url = "http://facilitator.example";
  expect(await settleAt(url, { lookUp: async () => ({ ok: false, reason: "dns_not_found" }) })).toBe(
    "unsent",
  );
  expect(await settleAt(url, { lookUp: async () => ({ ok: false, reason: "dns_failed" }) })).toBe("unsent");
  expect(await settleAt(url, { lookUp: never })).toBe("unsent");
  expect(await settleAt(url, { connect: never })).toBe("unsent");
  expect(await settleAt(`http://127.0.0.1:${await freePort()}`)).toBe("unsent");
  using noTls = startServer((socket) => void socket.end("no TLS here"));
  expect(await settleAt(`https://127.0.0.1:${noTls.port}`)).toBe("unsent");
});

test("what ends behind the request may have been sent", async () => {
  using silent = startServer(() => {});
  expect(await settleAt(`http://127.0.0.1:${silent.port}`)).toBe("unknown");
  using closing = startServer((socket) => void socket.terminate());
  expect(await settleAt(`http://127.0.0.1:${closing.port}`)).toBe("unknown");
  using odd = startServer((socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"));
  expect(await settleAt(`http://127.0.0.1:${odd.port}`)).toBe("unknown");
});
