import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import type { Facilitator, FacilitatorRequest, VerifyOutcome } from "../../src/payments/facilitator.ts";
import { findNetwork } from "../../src/payments/networks.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { MADE_UP_PAYEE, payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startPaidServer } from "../support/paid-server.ts";

/** Payments that nobody signed cost nothing until they are verified: those of one address keep nobody else out. */

const INVALID: VerifyOutcome = { kind: "invalid", reason: "invalid_signature", detail: "" };

/** Payments with a facilitator that verifies those of `held` senders once they are let go, and all others at once. */
function openGate(inFlightMax: number) {
  const database = openPayments(null, systemClock);
  const network = findNetwork("base");
  if (network === null) throw new Error("no network");
  const verifying: (() => void)[] = [];
  const facilitator: Facilitator = {
    verify: async (request) => {
      if (!isGarbage(request)) return { kind: "valid", payer: null };
      await new Promise<void>((resolve) => verifying.push(resolve));
      return INVALID;
    },
    settle: async () => ({ kind: "settled", transaction: "0x1", payer: null }),
    feePayers: async () => null,
  };
  const payments = createPayments(
    {
      store: database.payments,
      facilitator,
      clock: systemClock,
      turns: createFairTurns(systemClock.monotonic),
      reportError: (error) => expect(error).toBeNull(),
    },
    {
      payees: [{ network, payTo: MADE_UP_PAYEE }],
      pollDelayMs: 600_000,
      inFlightMax,
      inFlightPerPayerMax: 10,
    },
  );
  const call = {
    offer: { resource: { url: "https://a.example/x", description: "", mimeType: "" }, priceMicroUsd: 50_000 },
    request: "POST /x\n",
    work: async () => ({ kind: "answer", status: 200, headers: {}, body: "answer" }) as const,
  };
  async function send(tenant: string, signature: string): Promise<number | string> {
    const { headers } = await payments.take({ ...call, headers: new Headers() });
    const { "PAYMENT-SIGNATURE": header } = payFor(new Response(null, { headers }));
    const { payload, ...sent } = JSON.parse(atob(header));
    const payment = btoa(JSON.stringify({ ...sent, payload: { ...payload, signature } }));
    const paid = payments.take({ ...call, tenant, headers: new Headers({ "PAYMENT-SIGNATURE": payment }) });
    return paid.then(
      ({ status }) => status,
      (error) => (error instanceof ApiError ? error.code : Promise.reject(error)),
    );
  }
  return {
    verifying,
    pay: (tenant: string) => send(tenant, `0x${"11".repeat(65)}`),
    flood: (tenant: string, calls: number) =>
      Array.from({ length: calls }, () => send(tenant, `0x${"00".repeat(65)}`)),
    async [Symbol.asyncDispose]() {
      await payments[Symbol.asyncDispose]();
      database[Symbol.dispose]();
    },
  };
}

function isGarbage({ paymentPayload }: FacilitatorRequest): boolean {
  return JSON.stringify(paymentPayload).includes("00".repeat(65));
}

/** Ends all that is verified or waits for it, and returns the outcomes. */
async function endAll(verifying: (() => void)[], flood: readonly Promise<number | string>[]) {
  let isOver = false;
  const outcomes = Promise.all(flood).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const end of verifying.splice(0)) end();
    await new Promise(setImmediate);
  }
  return await outcomes;
}

test("unverified payments of one address beyond its share are 503, and another's is taken meanwhile", async () => {
  await using gate = openGate(100);
  const flood = gate.flood("attacker", 200);
  await new Promise(setImmediate);
  expect(await gate.pay("honest")).toBe(200);
  expect(gate.verifying.length).toBeGreaterThan(0);
  const outcomes = await endAll(gate.verifying, flood);
  const count = (outcome: number | string) => outcomes.filter((one) => one === outcome).length;
  // Half of what may be unverified, which is half of all.
  expect([count(402), count("overloaded")]).toEqual([25, 175]);
  // The places are free again.
  expect(await gate.pay("attacker")).toBe(200);
});

test("a payment does not queue behind those of another address for its verification", async () => {
  await using gate = openGate(2000);
  const flood = gate.flood("attacker", 400);
  expect([await gate.pay("honest"), gate.verifying.length]).toEqual([200, 32]);
  const outcomes = await endAll(gate.verifying, flood);
  expect([outcomes.length, ...new Set(outcomes)]).toEqual([400, 402]);
});

test("many addresses that flood leave every next one its turn", async () => {
  await using gate = openGate(2000);
  const floods = Array.from({ length: 60 }, (_, at) => gate.flood(`attacker ${at}`, 20)).flat();
  const honest = gate.pay("honest");
  let ended = 0;
  let isAnswered = false;
  void honest.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    const end = gate.verifying.shift();
    if (end !== undefined) ended += 1;
    end?.();
    await new Promise(setImmediate);
  }
  expect(await honest).toBe(200);
  // One of each of the others at most goes first, behind those that had places.
  expect(ended).toBeLessThanOrEqual(60 + 48);
  await endAll(gate.verifying, floods);
});

test("a paid route tells payments apart by the address of their client", async () => {
  using facilitator = startMadeUpFacilitator();
  const server = startPaidServer({
    dataDir: null,
    facilitatorUrl: facilitator.url,
    payeeOnBase: MADE_UP_PAYEE,
    payeeOnSolana: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
    settleDeadlineMs: 20_000,
    work: async () => ({ kind: "answer", status: 200, headers: {}, body: "{}" }),
  });
  const challenge = await fetch(server.url, { method: "POST" });
  const pay = (address: string) => {
    const headers = {
      "PAYMENT-SIGNATURE": payFor(challenge)["PAYMENT-SIGNATURE"],
      "X-Forwarded-For": address,
    };
    return fetch(server.url, { method: "POST", body: "asked", headers });
  };
  const held = Promise.withResolvers<void>();
  const isFull = Promise.withResolvers<void>();
  let asked = 0;
  facilitator.setFault(async (path) => {
    if (path !== "verify") return Response.json({ kinds: [] });
    asked += 1;
    if (asked === 32) isFull.resolve();
    await held.promise;
    return Response.json({ isValid: false, invalidReason: "invalid_signature" });
  });
  let answered = 0;
  const flood = Array.from({ length: 40 }, async () => {
    const { status } = await pay("192.0.2.1");
    answered += 1;
    return status;
  });
  await isFull.promise;
  facilitator.setFault(null);
  expect([(await pay("192.0.2.2")).status, answered]).toEqual([200, 0]);
  held.resolve();
  await Promise.all(flood);
  await server.stop();
});
