import { expect, test } from "bun:test";
import type { Facilitator, SettleOutcome } from "../../src/payments/facilitator.ts";
import { findNetwork } from "../../src/payments/networks.ts";
import type { PaidReply } from "../../src/payments/paid-call.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import type { PaymentStore } from "../../src/store/payment-port.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { madeUpTransaction } from "../support/made-up-transaction.ts";

/** What a payment has bought or may have bought stays its own, whatever is asked for the same call by then. */

const PAYEES = [
  { network: networkOf("base"), payTo: `0x${"bb".repeat(20)}` },
  { network: networkOf("solana"), payTo: "So11111111111111111111111111111111111111112" },
] as const;
const SETTLED: SettleOutcome = { kind: "settled", transaction: "0x1", payer: null };

function networkOf(alias: string) {
  const network = findNetwork(alias);
  if (network === null) throw new Error(`no network ${alias}`);
  return network;
}

/** A facilitator that settles as it is told, with the fee payer that it names. */
function startPayments(
  store: PaymentStore,
  told: { readonly settles: SettleOutcome; readonly feePayer: string | null },
) {
  const asked = { verify: 0, settle: 0, work: 0 };
  const facilitator: Facilitator = {
    async verify() {
      asked.verify += 1;
      return { kind: "valid", payer: null };
    },
    async settle() {
      asked.settle += 1;
      return told.settles;
    },
    feePayers: async () => (told.feePayer === null ? null : new Map([[PAYEES[1].network.id, told.feePayer]])),
  };
  const turns = createFairTurns(systemClock.monotonic);
  const payments = createPayments(
    { store, facilitator, clock: systemClock, turns, reportError: (error) => expect(error).toBeNull() },
    { payees: PAYEES, pollDelayMs: 600_000, inFlightMax: 10, inFlightPerPayerMax: 10 },
  );
  const take = (priceMicroUsd: number, payment: object | null): Promise<PaidReply> =>
    payments.take({
      headers: new Headers(payment === null ? {} : { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payment)) }),
      offer: { resource: { url: "https://a.example/x", description: "", mimeType: "" }, priceMicroUsd },
      request: "POST /x\n",
      work: async () => {
        asked.work += 1;
        return { kind: "answer", status: 200, headers: {}, body: "answer" };
      },
    });
  return { payments, take, asked };
}

let nonces = 0;

/** Returns a payment of what a challenge offers on a network. */
function payOn(challenged: PaidReply, alias: "base" | "solana"): object {
  const { accepts } = JSON.parse(atob(challenged.headers["PAYMENT-REQUIRED"] ?? ""));
  const accepted = accepts.find(({ network }: { network: string }) => network === networkOf(alias).id);
  nonces += 1;
  const authorization = {
    ...{ from: `0x${"aa".repeat(20)}`, to: accepted.payTo, value: accepted.amount },
    ...{ validAfter: "0", validBefore: "99999999999", nonce: `0x${`${nonces}`.padStart(64, "0")}` },
  };
  const transaction = madeUpTransaction(nonces).toString("base64");
  const payload = alias === "base" ? { authorization, signature: "0x11" } : { transaction };
  return { x402Version: 2, accepted, payload };
}

const codeOf = ({ body }: PaidReply): string => JSON.parse(body as string).error.code;

test.each(["base", "solana"] as const)(
  "on %s a payment has its answer again after price and fee payer have changed, and buys nothing else for it",
  async (alias) => {
    using database = openPayments(null, systemClock);
    const before = startPayments(database.payments, { settles: SETTLED, feePayer: "first" });
    const payment = payOn(await before.take(50_000, null), alias);
    expect((await before.take(50_000, payment)).status).toBe(200);
    const other = payOn(await before.take(50_000, null), alias);
    const after = startPayments(database.payments, { settles: SETTLED, feePayer: "second" });
    const again = await after.take(60_000, payment);
    expect([again.status, again.body, after.asked]).toEqual([
      200,
      "answer",
      { verify: 0, settle: 0, work: 0 },
    ]);
    expect([(await after.take(60_000, other)).status, after.asked.verify]).toEqual([402, 0]);
  },
);

test("an outcome that is unknown stays so while nobody can say who pays the fees: never a fresh 402", async () => {
  using database = openPayments(null, systemClock);
  const unknown: SettleOutcome = { kind: "unknown", reason: "no answer" };
  const before = startPayments(database.payments, { settles: unknown, feePayer: "first" });
  const payment = payOn(await before.take(50_000, null), "solana");
  const other = payOn(await before.take(50_000, null), "solana");
  const first = await before.take(50_000, payment);
  expect([first.status, codeOf(first)]).toEqual([503, "settlement_unknown"]);
  const told = { settles: unknown, feePayer: null };
  const after = startPayments(database.payments, told);
  const again = await after.take(50_000, payment);
  expect([again.status, codeOf(again), again.headers["PAYMENT-REQUIRED"]]).toEqual([
    ...[503, "settlement_unknown", undefined],
  ]);
  // One that was never sent on costs nothing, and may be shown again once the facilitator answers.
  const fresh = await after.take(50_000, other);
  expect([fresh.status, codeOf(fresh), after.asked.verify]).toEqual([502, "upstream_failed", 0]);
  Object.assign(told, { settles: SETTLED });
  expect([(await after.take(50_000, payment)).status, after.asked.work]).toEqual([200, 0]);
});
