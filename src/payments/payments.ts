import { ApiError } from "../contract/errors.ts";
import type { PaymentView } from "../contract/specification/payments/payment.ts";
import type { Clock } from "../platform/clock.ts";
import { type FairTurns, stepsInTurn } from "../platform/fair-turns.ts";
import { removeInSlices } from "../platform/slices.ts";
import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import { type Facilitator, type FacilitatorRequest, facilitatorRequest } from "./facilitator.ts";
import { createFeePayers } from "./fee-payers.ts";
import { fingerprintOf } from "./kept-answer.ts";
import { type Payee, requirementsOf } from "./offer.ts";
import { createOpenSettlements } from "./open-settlements.ts";
import type { PaidCall, PaidReply, Payment } from "./paid-call.ts";
import {
  journalRow,
  MATCHES_NONE,
  type MatchedCall,
  type PayingCall,
  paymentOf,
  readIdentified,
  sealKept,
} from "./paying-call.ts";
import { createPaymentAnswers, isSuccess, type SettledResult } from "./payment-answers.ts";
import { type PaymentIdentity, unfit } from "./payment-identity.ts";
import { cannotVerify, challenge, inUse, outcomeUnknown } from "./payment-refusals.ts";
import { createPaymentReservations } from "./payment-reservations.ts";
import { paymentView } from "./payment-view.ts";
import { OUTCOME_UNKNOWN, type SettlementResult } from "./settlement.ts";
import { createSettlementPoll } from "./settlement-poll.ts";
import { createVerificationTurns } from "./verification-turns.ts";
import { matchRequirement, networkOf } from "./x402-codec.ts";

/** Takes payments for calls, each for one answer. */
export type Payments = AsyncDisposable & {
  /** Continues the settlements of a former process, and asks what the facilitator supports. */
  readonly start: () => void;
  /** Answers a call that is to be paid. Throws what the work throws. */
  readonly take: (call: PaidCall) => Promise<PaidReply>;
  /** Returns the id of a call's payment, valid or not; null where it is missing or unreadable. */
  readonly idOf: (headers: PaidCall["headers"]) => string | null;
  /** Returns a payment on the wire, or null. */
  readonly find: (paymentId: string) => PaymentView | null;
  /** Removes answers that have expired; calls go on meanwhile. */
  readonly prune: (signal: AbortSignal) => Promise<void>;
  readonly stats: () => { readonly inFlight: number; readonly unknown: number };
};

export type PaymentsDependencies = {
  readonly store: PaymentStore;
  readonly facilitator: Facilitator;
  readonly clock: Clock;
  /** For what waits for the disk: one payment in each turn, so that other calls run in between. */
  readonly turns: FairTurns;
  readonly reportError: (error: unknown) => void;
};

export type PaymentsOptions = {
  /** At least one. */
  readonly payees: readonly Payee[];
  /** The wait before a settlement of unknown outcome is sent again; it doubles up to a minute. */
  readonly pollDelayMs: number;
  /** Of these, half may be unverified (see `createVerificationTurns`), so that what is free to send does not fill them. */
  readonly inFlightMax: number;
  readonly inFlightPerPayerMax: number;
};

/** Takes 10 ms. */
const PRUNED_ROWS_MAX = 100;
const POLL_DELAY_MS_MAX = 60_000;
const UNVERIFIED_PART = 0.5;

export function createPayments(dependencies: PaymentsDependencies, options: PaymentsOptions): Payments {
  const { store, facilitator, clock, turns, reportError } = dependencies;
  const settlements = createOpenSettlements(dependencies);
  const feePayers = createFeePayers({ facilitator, clock });
  const hasSolana = options.payees.some(({ network }) => network.kind === "solana");
  const feePayerOf = async () => (hasSolana ? await feePayers.current() : () => null);
  const reservations = createPaymentReservations({ perPayerMax: options.inFlightPerPayerMax });
  const verifications = createVerificationTurns({ unverifiedMax: options.inFlightMax * UNVERIFIED_PART });
  const answers = createPaymentAnswers({ ...dependencies, reservations });
  let waiting = 0;
  const poll = createSettlementPoll({
    store,
    clock,
    reportError,
    delayMs: options.pollDelayMs,
    delayMsMax: POLL_DELAY_MS_MAX,
    attempt: async (paymentId) => {
      const row = store.find(paymentId);
      if (row?.state !== "settling") return true;
      if (reservations.has(paymentId)) return false;
      const result = await reservations.hold(paymentId, () => settlements.again(row, facilitator.verify));
      return result.kind !== "unknown";
    },
  });

  const verifierOf =
    ({ tenant }: PaidCall): Facilitator["verify"] =>
    (request) =>
      verifications.inTurn(tenant ?? "", () => facilitator.verify(request));

  async function take(call: PaidCall): Promise<PaidReply> {
    const requirements = requirementsOf(call.offer, options.payees, await feePayerOf());
    const refuse = (reason: string | null) => challenge(call, requirements, reason);
    const read = readIdentified(call.headers);
    if (!read.ok) return refuse(read.reason);
    const { sent, identity } = read;
    call.onPayment?.(identity.id);
    if (waiting >= options.inFlightMax) throw new ApiError("overloaded");
    waiting += 1;
    try {
      return await takeIdentified({ call, sent, requirements, identity });
    } finally {
      waiting -= 1;
    }
  }

  async function takeIdentified(paying: PayingCall): Promise<PaidReply> {
    const { call, sent, requirements, identity } = paying;
    const known = store.find(identity.id);
    // First of all: a payment of the journal keeps its answer, even if prices and fee payers have changed.
    if (known !== undefined) return takeAgain(paying, known);
    if (call.refused !== undefined) throw call.refused;
    if (reservations.has(identity.id)) return inUse();
    const requirement = matchRequirement(sent, requirements);
    if (requirement !== null) return takeMatched({ ...paying, requirement });
    const network = networkOf(sent);
    const isPayee = options.payees.some((payee) => payee.network === network);
    const isOffered = requirements.some((required) => required.network === network?.id);
    // The network is not offered only while the facilitator cannot be asked for its fee payer.
    return isPayee && !isOffered
      ? cannotVerify()
      : challenge(call, requirements, call.mismatch ?? MATCHES_NONE);
  }

  async function takeMatched(matched: MatchedCall): Promise<PaidReply> {
    const { call, sent, requirement, requirements, identity } = matched;
    const reason = unfit(identity, requirement, clock.now());
    if (reason !== null) return challenge(call, requirements, reason);
    const request = facilitatorRequest(sent, identity.payload, requirement, call.offer);
    const verified = await verifierOf(call)(request);
    if (verified.kind === "invalid") return challenge(call, requirements, verified.reason);
    if (verified.kind === "unreachable" || !isPayer(verified.payer, identity)) return cannotVerify();
    // Again after the facilitator's answer, which may have taken long.
    const late = unfit(identity, requirement, clock.now());
    if (late !== null) return challenge(call, requirements, late);
    if (reservations.has(identity.id)) return inUse();
    // Another call with the same payment may have started and ended meanwhile.
    const settledMeanwhile = store.find(identity.id);
    if (settledMeanwhile !== undefined) return takeAgain(matched, settledMeanwhile);
    const payer = identity.payer ?? verified.payer ?? "";
    const amountMicroUsd = Number(requirement.amount);
    const payment = paymentOf(matched, { ...requirement, amountMicroUsd }, payer);
    return reservations.hold(identity.id, () =>
      reservations.holdForPayer(payer, () => takeNew(matched, payment, request)),
    );
  }

  /** Works, writes the journal, settles and answers, for a new payment. */
  async function takeNew(
    matched: MatchedCall,
    payment: Payment,
    request: FacilitatorRequest,
  ): Promise<PaidReply> {
    const { call } = matched;
    const prepared = await call.work(payment);
    if (prepared.kind === "answer" && !isSuccess(prepared.status)) return prepared;
    const step = stepsInTurn(turns, payment.payer);
    const answer = prepared.kind === "answer" ? await sealKept(prepared, matched, step) : null;
    const row = journalRow(matched, payment, { request, answer, now: clock.now() });
    let result: SettlementResult = { kind: "released", reason: "the settlement was not sent" };
    try {
      await turns.turnOf(row.payer);
      store.insert(row);
      result = await settlements.first(row);
    } finally {
      if (prepared.kind === "stream" && result.kind !== "settled") prepared.cancel();
    }
    if (result.kind !== "settled") return unsettled(matched, row, result);
    return answers.first(matched, payment, result, prepared);
  }

  /** Replays the answer of a payment in the journal, or completes its settlement or its work. */
  async function takeAgain(paying: PayingCall, row: PaymentRow): Promise<PaidReply> {
    const { call, requirements, identity } = paying;
    if (row.proof !== identity.proof)
      return challenge(call, requirements, "the nonce of this payment was used");
    if (row.fingerprint !== fingerprintOf(call.request)) {
      return challenge(call, requirements, "this payment has bought the answer to another request");
    }
    if (reservations.has(row.paymentId)) return row.state === "settling" ? outcomeUnknown() : inUse();
    return reservations.hold(row.paymentId, async () => {
      if (row.state === "settled") return answers.again(paying, row, resultOf(row));
      // Whether it was paid can no longer be found out: its holder gets the answer.
      if (row.reason === OUTCOME_UNKNOWN)
        return withoutReceipt(await answers.again(paying, row, resultOf(row)));
      if (row.state === "released" && row.answer === null) {
        return challenge(call, requirements, row.reason ?? "the payment was released");
      }
      const reason = row.state === "released" ? unfit(identity, requiredOf(row), clock.now()) : null;
      if (reason !== null) return challenge(call, requirements, reason);
      // One that is open was verified in a turn before, and may not be refused for want of another.
      const verify = row.state === "released" ? verifierOf(call) : facilitator.verify;
      const result = await settlements.again(row, verify);
      return result.kind === "settled" ? answers.again(paying, row, result) : unsettled(paying, row, result);
    });
  }

  function unsettled(
    paying: PayingCall,
    row: PaymentRow,
    result: Exclude<SettlementResult, SettledResult>,
  ): PaidReply {
    if (result.kind === "unknown") poll.add(row.paymentId);
    return answers.unsettled(paying, row, result);
  }

  return {
    take,
    idOf(headers) {
      const read = readIdentified(headers);
      return read.ok ? read.identity.id : null;
    },
    start() {
      poll.start();
      void feePayerOf();
    },
    find(paymentId) {
      const row = store.find(paymentId);
      return row === undefined ? null : paymentView(row);
    },
    prune(signal) {
      const remove = (limit: number) => store.removeExpiredAnswers(clock.now(), limit);
      return removeInSlices(remove, PRUNED_ROWS_MAX, signal);
    },
    stats: () => ({ inFlight: reservations.size(), unknown: poll.open() }),
    async [Symbol.asyncDispose]() {
      await poll[Symbol.asyncDispose]();
      await answers[Symbol.asyncDispose]();
    },
  };
}

function resultOf({ transaction, payer }: PaymentRow): SettledResult {
  return { kind: "settled", transaction, payer };
}

/** What a payment of the journal was to pay. */
function requiredOf({ payTo, amountMicroUsd }: PaymentRow) {
  return { payTo, amount: String(amountMicroUsd) };
}

function withoutReceipt(reply: PaidReply): PaidReply {
  const { "PAYMENT-RESPONSE": _second, "X-PAYMENT-RESPONSE": _first, ...headers } = reply.headers;
  return { ...reply, headers };
}

/** Whether the facilitator reports the payer that signed. */
function isPayer(reported: string | null, { payer }: PaymentIdentity): boolean {
  return payer === null || reported === null || reported.toLowerCase() === payer;
}
