import { expect, test } from "bun:test";
import type { SettleOutcome, VerifyOutcome } from "../../src/payments/facilitator.ts";
import { createOpenSettlements } from "../../src/payments/open-settlements.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import type { PaymentRow, PaymentStore } from "../../src/store/payment-port.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { StorageError } from "../../src/store/storage-error.ts";

/** A settlement counts as never sent only where this process knows it. */

const ROW: PaymentRow = {
  ...{ paymentId: "pay_1", network: "eip155:8453", payer: "0xaa", payTo: "0xbb", asset: "0xcc" },
  ...{ amountMicroUsd: 50_000, resource: "https://a.example/", x402Version: 2, proof: "p", fingerprint: "f" },
  ...{ state: "settling", reason: null, isDoubtful: false, transaction: null, request: "{}" },
  ...{ createdAt: 0, settledAt: null, answer: "sealed", answerExpiresAt: 1 },
};
const USED = "invalid_exact_evm_nonce_already_used";
const UNSENT: SettleOutcome = { kind: "unsent", reason: "the facilitator cannot be asked (connect_failed)" };
const SETTLED: SettleOutcome = { kind: "settled", transaction: "0x1", payer: null };

/** Settlements of one process on a journal, with a facilitator that says one thing after the other. */
function startSettlements(
  store: PaymentStore,
  settles: SettleOutcome[],
  seen: VerifyOutcome | (() => VerifyOutcome),
) {
  const errors: unknown[] = [];
  const facilitator = {
    verify: async () => (typeof seen === "function" ? seen() : seen),
    settle: async (): Promise<SettleOutcome> => settles.shift() ?? { kind: "refused", reason: USED },
  };
  const settlements = createOpenSettlements({
    ...{ store, facilitator, clock: systemClock, turns: createFairTurns(systemClock.monotonic) },
    reportError: (error) => errors.push(error),
  });
  const again = async () => {
    const row = store.find(ROW.paymentId);
    if (row === undefined) throw new Error("the journal has lost its row");
    return (await settlements.again(row, facilitator.verify)).kind;
  };
  return { first: async () => (await settlements.first(ROW)).kind, again, errors };
}

const VALID: VerifyOutcome = { kind: "valid", payer: null };
const INVALID: VerifyOutcome = { kind: "invalid", reason: USED, detail: "" };

test("a payment that was never sent is released where its nonce is used, and one of a former process is not", async () => {
  for (const [isRestarted, outcome] of [
    [false, "released"],
    [true, "settled"],
  ] as const) {
    using database = openPayments(null, systemClock);
    database.payments.insert(ROW);
    const before = startSettlements(database.payments, [UNSENT, UNSENT], VALID);
    expect([await before.first(), await before.again()]).toEqual(["unknown", "unknown"]);
    const now = isRestarted ? startSettlements(database.payments, [], VALID) : before;
    expect([isRestarted, await now.again()]).toEqual([isRestarted, outcome]);
  }
});

test("a doubtful one that was released, and could not be sent again, is unpaid where its nonce is used meanwhile", async () => {
  using database = openPayments(null, systemClock);
  database.payments.insert(ROW);
  database.payments.release(ROW.paymentId, "unexpected_error", true);
  let seen: VerifyOutcome = VALID;
  const settlements = startSettlements(database.payments, [UNSENT], () => seen);
  expect(await settlements.again()).toBe("unknown");
  seen = INVALID;
  expect([await settlements.again(), database.payments.find(ROW.paymentId)?.state]).toEqual([
    "released",
    "released",
  ]);
});

test("one whose outcome could not be written was sent, and is settled where its nonce is used", async () => {
  using database = openPayments(null, systemClock);
  database.payments.insert(ROW);
  let isFull = true;
  const store: PaymentStore = {
    ...database.payments,
    settle(...settled) {
      if (isFull) throw new StorageError("the disk is full");
      database.payments.settle(...settled);
    },
  };
  const settlements = startSettlements(store, [UNSENT, SETTLED], VALID);
  expect([await settlements.first(), await settlements.again()]).toEqual(["unknown", "unknown"]);
  expect(settlements.errors).toEqual([new StorageError("the disk is full")]);
  isFull = false;
  expect(await settlements.again()).toBe("settled");
});

test("one that was never sent stays so where its release cannot be written", async () => {
  using database = openPayments(null, systemClock);
  database.payments.insert(ROW);
  let isFull = true;
  const store: PaymentStore = {
    ...database.payments,
    release(...released) {
      if (isFull) throw new StorageError("the disk is full");
      database.payments.release(...released);
    },
  };
  const settlements = startSettlements(store, [UNSENT], INVALID);
  expect(await settlements.first()).toBe("unknown");
  await expect(settlements.again()).rejects.toThrow("the disk is full");
  isFull = false;
  expect(await settlements.again()).toBe("released");
});
