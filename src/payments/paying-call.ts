import type { Steps } from "../platform/steps.ts";
import type { PaymentRow } from "../store/payment-port.ts";
import type { FacilitatorRequest } from "./facilitator.ts";
import { fingerprintOf, type KeptAnswer, sealAnswer } from "./kept-answer.ts";
import type { Requirement } from "./offer.ts";
import type { PaidCall, Payment } from "./paid-call.ts";
import { identify, type PaymentIdentity } from "./payment-identity.ts";
import { networkOf, readPayment, type SentPayment, settlementHeaders } from "./x402-codec.ts";

/** What is known of a call once its payment was read. */
export type PayingCall = {
  readonly call: PaidCall;
  readonly sent: SentPayment;
  readonly requirements: readonly Requirement[];
  readonly identity: PaymentIdentity;
};
/** What is known once it was found to pay what is required. */
export type MatchedCall = PayingCall & { readonly requirement: Requirement };

export const MATCHES_NONE = "the payment matches none of the ways to pay this call";
const ANSWER_KEPT_MS = 24 * 3_600_000;

type IdentifiedPayment =
  | { readonly ok: true; readonly sent: SentPayment; readonly identity: PaymentIdentity }
  /** Without a reason where the call carries no payment. */
  | { readonly ok: false; readonly reason: string | null };

/** Reads the payment of a call and what makes it this one. Whether it is good is not looked at. */
export function readIdentified(headers: PaidCall["headers"]): IdentifiedPayment {
  const read = readPayment(headers);
  if (read.kind === "none") return { ok: false, reason: null };
  if (read.kind === "malformed") return { ok: false, reason: read.reason };
  const network = networkOf(read.payment);
  const identity = network === null ? MATCHES_NONE : identify(read.payment.payload, network);
  if (typeof identity === "string") return { ok: false, reason: identity };
  return { ok: true, sent: read.payment, identity };
}

/** A payment in the words of what was required, now or when it was taken. */
export function paymentOf(
  { sent, identity }: PayingCall,
  { network, payTo, asset, amountMicroUsd }: Pick<Payment, "network" | "payTo" | "asset" | "amountMicroUsd">,
  payer: string,
): Payment {
  return {
    paymentId: identity.id,
    x402Version: sent.x402Version,
    network,
    payer,
    payTo,
    asset,
    amountMicroUsd,
    nonce: identity.nonce,
  };
}

/** The row of a payment whose settlement is about to be sent. */
export function journalRow(
  { call, sent, identity }: MatchedCall,
  payment: Payment,
  {
    request,
    answer,
    now,
  }: { readonly request: FacilitatorRequest; readonly answer: string | null; readonly now: number },
): PaymentRow {
  const { paymentId, network, payer, payTo, asset, amountMicroUsd } = payment;
  return {
    paymentId,
    network,
    payer,
    payTo,
    asset,
    amountMicroUsd,
    answer,
    resource: call.offer.resource.url,
    x402Version: sent.x402Version,
    proof: identity.proof,
    fingerprint: fingerprintOf(call.request),
    state: "settling",
    reason: null,
    isDoubtful: false,
    transaction: null,
    request: JSON.stringify(request),
    createdAt: now,
    settledAt: null,
    answerExpiresAt: now + ANSWER_KEPT_MS,
  };
}

/** Returns an answer as it is kept for the payment that has bought it. */
export function sealKept(answer: KeptAnswer, { call, identity }: PayingCall, step: Steps): Promise<string> {
  const { status, headers, body } = answer;
  return sealAnswer({ status, headers, body }, { request: call.request, paymentId: identity.id }, step);
}

export function receiptHeaders(sent: SentPayment, { network, payer }: Payment, transaction: string | null) {
  return settlementHeaders(sent.x402Version, {
    success: true,
    transaction: transaction ?? "",
    network,
    payer,
  });
}
