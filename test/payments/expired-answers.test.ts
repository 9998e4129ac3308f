import { expect, test } from "bun:test";
import type { Facilitator } from "../../src/payments/facilitator.ts";
import { findNetwork } from "../../src/payments/networks.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";

const EXPIRED = 350;
const HOUR_MS = 3_600_000;

const FACILITATOR: Facilitator = {
  verify: async () => ({ kind: "valid", payer: null }),
  settle: async () => ({ kind: "settled", transaction: "0x1", payer: null }),
  feePayers: async () => null,
};

function startPayments() {
  const database = openPayments(null, systemClock);
  const network = findNetwork("base");
  if (network === null) throw new Error("no network base");
  const payments = createPayments(
    {
      store: database.payments,
      facilitator: FACILITATOR,
      clock: systemClock,
      turns: createFairTurns(systemClock.monotonic),
      reportError: (error) => expect(error).toBeNull(),
    },
    {
      payees: [{ network, payTo: `0x${"bb".repeat(20)}` }],
      pollDelayMs: HOUR_MS,
      inFlightMax: 1,
      inFlightPerPayerMax: 1,
    },
  );
  const now = systemClock.now();
  const ids = Array.from({ length: EXPIRED + 1 }, (_, n) => `pay_${n}`);
  for (const [n, paymentId] of ids.entries()) {
    database.payments.insert({
      ...{ paymentId, network: network.id, payer: "0xaa", payTo: "0xbb", asset: "0xcc", amountMicroUsd: 1 },
      ...{
        resource: "https://a.example/",
        x402Version: 2,
        proof: `${n}`,
        fingerprint: "f",
        state: "settled",
      },
      ...{ reason: null, isDoubtful: false, transaction: null, request: null, createdAt: 0, settledAt: 0 },
      ...{ answer: "answer", answerExpiresAt: n < EXPIRED ? now : now + HOUR_MS },
    });
  }
  const kept = () => ids.filter((id) => database.payments.find(id)?.answer !== null);
  return { payments, kept, [Symbol.dispose]: () => database[Symbol.dispose]() };
}

test("answers that have expired together are all removed, and other work goes on meanwhile", async () => {
  using started = startPayments();
  const seen: number[] = [];
  const look = (): void => {
    seen.push(started.kept().length);
    if (seen.at(-1) !== 1) looking = setImmediate(look);
  };
  let looking = setImmediate(look);
  await started.payments.prune(new AbortController().signal);
  clearImmediate(looking);
  expect(started.kept()).toEqual([`pay_${EXPIRED}`]);
  expect(seen.filter((count) => count > 1).length).toBeGreaterThan(1);
});

test("the removal ends with its signal", async () => {
  using started = startPayments();
  const stop = new AbortController();
  const removing = started.payments.prune(stop.signal);
  stop.abort();
  await removing;
  expect(started.kept().length).toBeGreaterThan(EXPIRED / 2);
});
