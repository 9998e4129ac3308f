import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { type FairTurns, stepsInTurn } from "../platform/fair-turns.ts";
import { AT_ONCE_BYTES_MAX } from "../platform/steps.ts";
import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import { type KeptAnswer, sealedAnswerBytes, unsealAnswer } from "./kept-answer.ts";
import { createLargeRepetitions } from "./large-repetitions.ts";
import type { PaidCall, PaidReply, Payment, SettledPayment } from "./paid-call.ts";
import { type PayingCall, paymentOf, receiptHeaders, sealKept } from "./paying-call.ts";
import { answerDelayed, challenge, outcomeUnknown } from "./payment-refusals.ts";
import type { PaymentReservations } from "./payment-reservations.ts";
import { createPaymentReports } from "./reported-payments.ts";
import { OUTCOME_UNKNOWN, type SettlementResult } from "./settlement.ts";
import { settlementHeaders } from "./x402-codec.ts";

export type SettledResult = Extract<SettlementResult, { kind: "settled" }>;
type Prepared = Awaited<ReturnType<PaidCall["work"]>>;
type PreparedStream = Extract<Prepared, { kind: "stream" }>;

/**
 * The replies to a call after its settlement. What fails then is for the same payment to be sent again, not for another.
 * Disposed of once the answers of streams that have ended are kept.
 */
export type PaymentAnswers = AsyncDisposable & {
  /** The answer that the payment bought, with its receipt. */
  readonly first: (
    paying: PayingCall,
    payment: Payment,
    result: SettledResult,
    prepared: Prepared,
  ) => Promise<PaidReply>;
  /** Returns the kept answer, or makes it again where the process ended before there was one. */
  readonly again: (paying: PayingCall, row: PaymentRow, result: SettledResult) => Promise<PaidReply>;
  readonly unsettled: (
    paying: PayingCall,
    row: PaymentRow,
    result: Exclude<SettlementResult, SettledResult>,
  ) => PaidReply;
};

export type PaymentAnswersDependencies = {
  readonly store: Pick<PaymentStore, "answerLength" | "keepAnswer">;
  /** A payment is held until the end of the stream that it bought, or two calls at once would have two of them. */
  readonly reservations: Pick<PaymentReservations, "holdUntil">;
  readonly clock: Clock;
  /** For what is done with large answers. */
  readonly turns: FairTurns;
  readonly reportError: (error: unknown) => void;
};

export function createPaymentAnswers({
  store,
  reservations,
  clock,
  turns,
  reportError,
}: PaymentAnswersDependencies): PaymentAnswers {
  const repetitions = createLargeRepetitions(clock);
  const reportOf = createPaymentReports(clock, reportError);
  const keeping = new Set<Promise<void>>();

  async function first(
    paying: PayingCall,
    payment: Payment,
    result: SettledResult,
    prepared: Prepared,
  ): Promise<PaidReply> {
    if (prepared.kind === "answer") return answerOf(paying, payment, result, prepared);
    return streamOf(paying, payment, result, prepared);
  }

  async function again(paying: PayingCall, row: PaymentRow, result: SettledResult): Promise<PaidReply> {
    const { call } = paying;
    const repeat = () => repeated(paying, row, result);
    return isLarge(row, call.request) ? repetitions.inPlace(call.tenant, repeat) : repeat();
  }

  /** Whether a kept answer takes long to decrypt. A larger one is not read for that. */
  function isLarge(row: PaymentRow, request: string): boolean {
    const { paymentId } = row;
    if (store.answerLength(paymentId) > AT_ONCE_BYTES_MAX) return true;
    const { answer: sealed } = row;
    return sealed !== null && sealedAnswerBytes({ sealed, request, paymentId }) > AT_ONCE_BYTES_MAX;
  }

  async function repeated(paying: PayingCall, row: PaymentRow, result: SettledResult): Promise<PaidReply> {
    const { call, requirements } = paying;
    const payment = paymentOf(paying, row, result.payer);
    const step = stepsInTurn(turns, row.payer);
    const { answer: sealed, paymentId } = row;
    if (sealed !== null) {
      const kept = await unsealAnswer({ sealed, request: call.request, paymentId }, step);
      return answerOf(paying, payment, result, kept);
    }
    if (clock.now() >= row.answerExpiresAt) {
      return challenge(call, requirements, "the answer that this payment bought is no longer kept");
    }
    // The process ended during a stream.
    const prepared = await call.work(payment);
    if (prepared.kind === "answer") {
      if (!isSuccess(prepared.status)) return prepared;
      store.keepAnswer(paymentId, await sealKept(prepared, paying, step));
    }
    return first(paying, payment, result, prepared);
  }

  function streamOf(
    paying: PayingCall,
    payment: Payment,
    { transaction }: SettledResult,
    prepared: PreparedStream,
  ): PaidReply {
    const { kept, ...reply } = started(prepared, { ...payment, transaction });
    const ended = kept.then((answer) => (answer === null ? undefined : keep(paying, payment, answer)));
    reservations.holdUntil(payment.paymentId, ended.catch(reportError));
    return { ...reply, headers: { ...reply.headers, ...receiptHeaders(paying.sent, payment, transaction) } };
  }

  /** Keeps the answer of a stream that has ended, in turns. */
  function keep(paying: PayingCall, { paymentId, payer }: Payment, answer: KeptAnswer): Promise<void> {
    const kept = sealKept(answer, paying, stepsInTurn(turns, payer))
      .then((sealed) => store.keepAnswer(paymentId, sealed))
      .finally(() => keeping.delete(kept));
    keeping.add(kept);
    return kept;
  }

  /** Returns what a call is answered whose answer failed although it is paid for. Throws what no client repeats by itself. */
  function delayed(paymentId: string, error: unknown): PaidReply {
    if (error instanceof ApiError) {
      if (!isRepeated(error.status)) throw error;
      return answerDelayed(error.retryAfterSeconds);
    }
    // The caller has left, or the process ends.
    if (error instanceof Error && error.name === "AbortError") throw error;
    reportOf(paymentId, error);
    return answerDelayed();
  }

  const orDelayed = (paying: PayingCall, reply: Promise<PaidReply>) =>
    reply.catch((error: unknown) => delayed(paying.identity.id, error));

  return {
    first: (paying, ...settled) => orDelayed(paying, first(paying, ...settled)),
    again: (paying, ...settled) => orDelayed(paying, again(paying, ...settled)),
    unsettled,
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(keeping);
    },
  };
}

/** Starts a stream, or stops its source where that fails. */
function started(
  { start, cancel }: PreparedStream,
  payment: SettledPayment,
): ReturnType<PreparedStream["start"]> {
  try {
    return start(payment);
  } catch (error) {
    cancel();
    throw error;
  }
}

async function answerOf(
  { call, sent }: PayingCall,
  payment: Payment,
  { transaction }: SettledResult,
  kept: KeptAnswer,
): Promise<PaidReply> {
  const { status, headers, body } = (await call.finish?.(kept, { ...payment, transaction })) ?? kept;
  return { status, body, headers: { ...headers, ...receiptHeaders(sent, payment, transaction) } };
}

function unsettled(
  { call, requirements, sent }: PayingCall,
  row: PaymentRow,
  result: Exclude<SettlementResult, SettledResult>,
): PaidReply {
  if (result.kind === "unknown" || result.reason === OUTCOME_UNKNOWN) return outcomeUnknown();
  const refused = challenge(call, requirements, result.reason);
  const notice = { transaction: "", network: row.network, payer: row.payer };
  const settled = settlementHeaders(sent.x402Version, {
    success: false,
    errorReason: result.reason,
    ...notice,
  });
  return { ...refused, headers: { ...refused.headers, ...settled } };
}

/** Whether clients send a call anew by themselves, and would pay for it anew, after this status. */
function isRepeated(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
