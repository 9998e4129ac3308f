import { expect, test } from "bun:test";
import { solanaMessage } from "../../src/payments/solana-message.ts";
import { MADE_UP_PAYEE, payFor } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";
import { madeUpTransaction } from "../support/made-up-transaction.ts";

/** One transfer that is dressed as many payments: the facilitator must see what the payment is known by, and only that. */

type Json = { readonly [name: string]: unknown };
type Asked = {
  readonly paymentPayload: Json & { readonly payload: Json };
  readonly paymentRequirements: Json;
};

const PAYER = `0x${"ab".repeat(20)}`;

/**
 * A facilitator that settles what `spent` finds in a payload, once each, and a server that settles there. A payload is
 * good when it is shown first, as if all were verified before any was settled.
 */
function openServer(spent: (payload: Json) => string) {
  const asked: Asked[] = [];
  const settled = new Set<string>();
  const shown = new Set<string>();
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
      const kinds = [
        { scheme: "exact", network, extra: { feePayer: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" } },
      ];
      if (path === "/supported") return Response.json({ kinds });
      const body = (await request.json()) as Asked;
      asked.push(body);
      const { payload } = body.paymentPayload;
      const transfer = spent(payload);
      if (path === "/verify") {
        const isFirst = !shown.has(JSON.stringify(payload));
        shown.add(JSON.stringify(payload));
        return Response.json(
          isFirst || !settled.has(transfer)
            ? { isValid: true, payer: PAYER }
            : { isValid: false, invalidReason: "nonce_already_used" },
        );
      }
      // The second was broadcast as well, and failed on the chain.
      if (settled.has(transfer))
        return Response.json({ success: false, errorReason: "invalid_transaction_state" });
      settled.add(transfer);
      return Response.json({
        success: true,
        transaction: "0x1",
        network: body.paymentRequirements.network,
        payer: PAYER,
      });
    },
  });
  const server = startMadeUpPaidServer({ url: http.url.origin }, async () => {
    return { kind: "answer", status: 200, headers: {}, body: "{}" };
  });
  return {
    ...{ url: server.url, asked, settled },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await http.stop(true);
    },
  };
}

const send = (url: string, payment: object) =>
  fetch(url, { method: "POST", body: "x", headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payment)) } });

test("a payload with a second authorization in it is settled by the one that was checked", async () => {
  // As the official facilitator reads it: Permit2 goes first.
  await using server = openServer((payload) =>
    JSON.stringify(payload.permit2Authorization ?? (payload.authorization as Json).nonce),
  );
  const { url, settled } = server;
  const challenge = await fetch(url, { method: "POST", body: "x" });
  const dressed = (): Json => {
    const sent = JSON.parse(atob(payFor(challenge)["PAYMENT-SIGNATURE"]));
    const { authorization, signature } = sent.payload;
    const permit2Authorization = { from: PAYER, nonce: "1", permitted: { amount: "50000" } };
    const accepted = { ...sent.accepted, extra: { ...sent.accepted.extra, assetTransferMethod: "permit2" } };
    const more = { ...authorization, from: PAYER, to: MADE_UP_PAYEE, spender: PAYER };
    return { ...sent, accepted, payload: { authorization: more, permit2Authorization, signature } };
  };
  const replies = await Promise.all([send(url, dressed()), send(url, dressed())]);
  const answered = replies.filter(({ status }) => status === 200).length;
  expect(answered).toBe(settled.size);
  for (const { paymentPayload, paymentRequirements } of server.asked) {
    const { accepted, payload } = paymentPayload;
    expect(accepted).toEqual(paymentRequirements);
    expect(Object.keys(payload).sort()).toEqual(["authorization", "signature"]);
    expect(Object.keys(payload.authorization as Json).sort()).toEqual([
      "from",
      "nonce",
      "to",
      "validAfter",
      "validBefore",
      "value",
    ]);
  }
});

test("a transaction with more behind its message is no other payment", async () => {
  // As facilitators read it that take the transaction out of the bytes and leave the rest.
  const whole = madeUpTransaction(7);
  await using server = openServer((payload) => {
    const bytes = Buffer.from(String(payload.transaction), "base64");
    return bytes.subarray(0, whole.length).toString("hex");
  });
  // The first call waits for the facilitator's word on who pays the fees.
  const { url, settled } = server;
  const challenge = await fetch(url, { method: "POST", body: "x" });
  const { accepts, resource } = JSON.parse(atob(challenge.headers.get("PAYMENT-REQUIRED") ?? ""));
  const accepted = accepts.find(({ network }: { network: string }) => network.startsWith("solana:"));
  const pay = (transaction: Buffer) =>
    send(url, {
      x402Version: 2,
      resource,
      accepted,
      payload: { transaction: transaction.toString("base64") },
    });
  const longer = Buffer.concat([whole, Buffer.of(0)]);
  const replies = await Promise.all([pay(whole), pay(longer)]);
  expect([replies.map(({ status }) => status), settled.size]).toEqual([[200, 402], 1]);
});

test("a transaction is read as the chain writes it, and to its last byte", () => {
  const whole = madeUpTransaction(1);
  expect(solanaMessage(whole)?.length).toBe(whole.length - 1 - 128);
  for (let length = 0; length < whole.length; length += 1) {
    expect([length, solanaMessage(whole.subarray(0, length))]).toEqual([length, null]);
  }
  const changed = (at: number, ...bytes: number[]) =>
    Buffer.concat([whole.subarray(0, at), Buffer.from(bytes), whole.subarray(at + 1)]);
  const start = 129;
  const others: { readonly [what: string]: Buffer } = {
    "another version": changed(start, 0x81),
    "more signatures than it needs": changed(start + 1, 1),
    "fewer signatures than it needs": changed(start + 1, 3),
    "a count in more bytes than it takes": changed(start + 4, 0x83, 0),
    "a count of more than 16 bits": changed(start + 4, 0x83, 0x80, 0x04),
    "the most instructions, and none of them there": Buffer.concat([
      whole.subarray(0, start + 5 + 4 * 32),
      Buffer.of(0xff, 0xff, 0x03),
    ]),
  };
  for (const [what, bytes] of Object.entries(others))
    expect([what, solanaMessage(bytes)]).toEqual([what, null]);
  const legacy = Buffer.concat([whole.subarray(0, start), whole.subarray(start + 1, -36)]);
  expect(solanaMessage(legacy)?.length).toBe(legacy.length - 129);
});
