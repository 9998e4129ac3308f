import { expect, test } from "bun:test";
import type { SettleOutcome, VerifyOutcome } from "../../src/payments/facilitator.ts";
import { settle } from "../../src/payments/settlement.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import type { PaymentRow } from "../../src/store/payment-port.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";

/** What is made of the words of a facilitator. */

const FAILED: SettleOutcome = { kind: "refused", reason: "invalid_exact_evm_transaction_failed" };
const SETTLED: SettleOutcome = { kind: "settled", transaction: "0x1", payer: null };
const VALID: VerifyOutcome = { kind: "valid", payer: null };
const USED: VerifyOutcome = { kind: "invalid", reason: "invalid_exact_evm_nonce_already_used", detail: "" };

const ROW: PaymentRow = {
  ...{ paymentId: "pay_1", network: "eip155:8453", payer: "0xaa", payTo: "0xbb", asset: "0xcc" },
  ...{ amountMicroUsd: 50_000, resource: "https://a.example/", x402Version: 2, proof: "p", fingerprint: "f" },
  ...{ state: "settling", reason: null, isDoubtful: false, transaction: null, request: "{}" },
  ...{ createdAt: 0, settledAt: null, answer: null, answerExpiresAt: 1 },
};

/** Settles a payment with a facilitator that says one thing after the other. */
async function settleWith(settles: readonly SettleOutcome[], verifies: readonly VerifyOutcome[]) {
  using database = openPayments(null, systemClock);
  database.payments.insert(ROW);
  const left = { settles: [...settles], verifies: [...verifies] };
  const next = async <T>(said: T[]): Promise<T> => {
    const word = said.shift();
    if (word === undefined) throw new Error("the facilitator is asked too often");
    return word;
  };
  const turns = createFairTurns(systemClock.monotonic);
  const facilitator = { settle: () => next(left.settles), verify: () => next(left.verifies) };
  const result = await settle({ store: database.payments, facilitator, clock: systemClock, turns }, ROW);
  expect(left).toEqual({ settles: [], verifies: [] });
  return [result.kind, database.payments.find(ROW.paymentId)?.state];
}

test("a payment that the facilitator failed to broadcast, and that is still good, is sent once more", async () => {
  expect(await settleWith([FAILED, SETTLED], [VALID])).toEqual(["settled", "settled"]);
  expect(await settleWith([FAILED, FAILED], [VALID, VALID])).toEqual(["released", "released"]);
});

test("one that it lost sight of is on the chain by then, and is settled", async () => {
  expect(await settleWith([FAILED, FAILED], [VALID, USED])).toEqual(["settled", "settled"]);
  const used: SettleOutcome = { kind: "refused", reason: USED.reason };
  expect(await settleWith([FAILED, used], [VALID])).toEqual(["settled", "settled"]);
});

test("what is refused for the payment itself is not sent again, and what is unknown stays so", async () => {
  const refused: SettleOutcome = { kind: "refused", reason: "invalid_exact_evm_signature" };
  expect(await settleWith([refused], [])).toEqual(["released", "released"]);
  const unknown: SettleOutcome = { kind: "unknown", reason: "no answer" };
  expect(await settleWith([unknown], [])).toEqual(["unknown", "settling"]);
  expect(await settleWith([FAILED, unknown], [VALID])).toEqual(["unknown", "settling"]);
  expect(await settleWith([FAILED], [{ kind: "unreachable", reason: "down" }])).toEqual([
    "unknown",
    "settling",
  ]);
});
