import { expect, test } from "bun:test";
import { createFairShares } from "../../src/billing/fair-shares.ts";
import { createChatWork } from "../../src/inference/chat.ts";
import { readChatRequest } from "../../src/inference/chat-request.ts";
import { createReceiptLedger } from "../../src/inference/receipt-ledger.ts";
import { createUpstreams } from "../../src/inference/upstreams.ts";
import { systemAddressLookup } from "../../src/net/address-lookup.ts";
import { connectDirectly } from "../../src/net/direct-connection.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import type { SettledPayment } from "../../src/payments/paid-call.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { atOnce, type Steps } from "../../src/platform/steps.ts";
import { openSigningKey } from "../../src/signing/signing-key.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";
import { startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import { temporaryFolder } from "../support/process.ts";

const PAYMENT: SettledPayment = {
  ...{ paymentId: "pay_1", x402Version: 2, network: "eip155:8453", payer: "0x1", payTo: "0x2" },
  ...{ asset: "0x3", amountMicroUsd: 10_000, nonce: "0x4", transaction: "0x5" },
};

test("an answer of megabytes is read, and given its receipt, in steps; a small one at once", async () => {
  using upstream = startMadeUpChat();
  using folder = temporaryFolder("large-answers");
  using database = openInferenceDatabase(null, systemClock);
  let steps = 0;
  const step: Steps = (work) => {
    steps += 1;
    return atOnce(work);
  };
  const answerBytesMax = 8_388_608;
  const client = createHttpClient(
    { lookUp: systemAddressLookup, clock: systemClock, connect: connectDirectly },
    {
      allowPrivate: true,
      ports: "any",
      limits: { bodyBytesMax: answerBytesMax, decodedBytesMax: answerBytesMax },
    },
  );
  await using upstreams = createUpstreams([{ baseUrl: upstream.url, apiKey: null }], {
    ...{ client, clock: systemClock, answerBytesMax, step, report: () => {} },
  });
  const ledger = createReceiptLedger({
    store: database.receipts,
    signingKey: openSigningKey(folder.path),
    now: systemClock.now,
    newReceiptId: () => `rcpt_${steps}`,
  });
  const chatWork = createChatWork({
    ...{ upstreams, ledger, clock: systemClock, keepAliveMs: 1000, answerBytesMax, step },
    room: createFairShares({ capacity: 1, ratio: 1, guaranteed: 1 }),
  });
  const body = Buffer.from('{"model":"made-up-1","messages":[{"role":"user","content":"hi"}]}');
  const read = await readChatRequest(body, atOnce);
  if (!read.ok) throw new Error(read.message);
  for (const [length, inWork, inFinish] of [
    [4_000_000, 5, 5],
    [4, 0, 0],
  ] as const) {
    upstream.setAnswer({ pieces: ["x".repeat(length)] });
    const paymentId = `pay_${length}`;
    const { work, finish } = chatWork({
      ...{ request: read.request, upstreamModel: "made-up-1", origin: "https://a.example", quoteId: null },
      ...{ resourceUrl: "https://a.example/", requestSha256: "", signal: new AbortController().signal },
    });
    steps = 0;
    const answer = await work({ ...PAYMENT, paymentId });
    if (answer.kind !== "answer") throw new Error("no answer");
    expect([length, steps >= inWork, steps > 0]).toEqual([length, true, inWork > 0]);
    steps = 0;
    const finished = await finish(answer, { ...PAYMENT, paymentId });
    expect([length, steps >= inFinish, steps > 0]).toEqual([length, true, inFinish > 0]);
    const { choices, receipt } = JSON.parse(finished.body);
    expect([choices[0].message.content.length, receipt === undefined]).toEqual([length, false]);
  }
});
