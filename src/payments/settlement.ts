import type { Clock } from "../platform/clock.ts";
import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import type { Facilitator, FacilitatorRequest } from "./facilitator.ts";

export type SettlementResult =
  | { readonly kind: "settled"; readonly transaction: string | null; readonly payer: string }
  | { readonly kind: "released"; readonly reason: string }
  | { readonly kind: "unknown" };

export type SettlementDependencies = {
  readonly store: Pick<PaymentStore, "settle" | "release" | "doubt">;
  readonly facilitator: Pick<Facilitator, "settle" | "verify">;
  readonly clock: Clock;
};

/** A payment that was good for longer than anyone could say whether it was settled. */
export const OUTCOME_UNKNOWN = "outcome_unknown";

/** The nonce or the transaction is on the chain. */
const USED = /nonce.*used|already[_ -]?(used|processed|settled)|authorization.*used/i;
/** Nothing was paid, and nothing else needs to be asked to know it: the token looks at the nonce before the balance. */
const UNPAID = /insufficient|exceeds balance/i;
/** It was tried on the chain and failed. What has been paid is not tried any more: it was used, or is too old. */
const FAILED_ON_CHAIN = /InstructionError|custom program error/i;
/** The facilitator has broadcast it, or tried to, and does not say what became of it. */
const UNDECIDED = /transaction_(failed|state)|unexpected|duplicate|no reason|error/i;
const DUPLICATE = /duplicate/i;

/** Sends the settlement of a payment that is in the journal, and writes its outcome there. */
export async function settle(
  dependencies: SettlementDependencies,
  row: PaymentRow,
): Promise<SettlementResult> {
  const first = await attempt(dependencies, row);
  if (first.kind !== "untried") return first;
  // The facilitator could not broadcast it, or lost sight of it. What is on its way to the chain after all is there by
  // the time that the same payment is tried again.
  const second = await attempt(dependencies, { ...row, isDoubtful: true });
  if (second.kind !== "untried") return second;
  dependencies.store.release(row.paymentId, second.reason);
  return { kind: "released", reason: second.reason };
}

/** It was refused, and is as good as before. */
type Untried = { readonly kind: "untried"; readonly reason: string };

async function attempt(
  { store, facilitator, clock }: SettlementDependencies,
  row: PaymentRow,
): Promise<SettlementResult | Untried> {
  const request = JSON.parse(row.request ?? "null") as FacilitatorRequest;
  const outcome = await facilitator.settle(request);
  const settled = (transaction: string | null, payer: string | null): SettlementResult => {
    store.settle(row.paymentId, { transaction, payer, at: clock.now() });
    return { kind: "settled", transaction, payer: payer ?? row.payer };
  };
  const released = (reason: string): SettlementResult => {
    store.release(row.paymentId, reason);
    return { kind: "released", reason };
  };
  if (outcome.kind === "settled") return settled(outcome.transaction, payerOf(row, outcome.payer));
  if (outcome.kind === "unknown") {
    store.doubt(row.paymentId);
    return { kind: "unknown" };
  }
  // What was never sent before cannot have been paid by us: its nonce was used by someone else.
  if (!row.isDoubtful && !UNDECIDED.test(outcome.reason)) return released(outcome.reason);
  store.doubt(row.paymentId);
  if (USED.test(outcome.reason)) return settled(null, null);
  if (UNPAID.test(outcome.reason)) return released(outcome.reason);
  const seen = await facilitator.verify(request);
  if (seen.kind === "unreachable") return { kind: "unknown" };
  if (seen.kind === "valid") {
    return DUPLICATE.test(outcome.reason) ? { kind: "unknown" } : { kind: "untried", reason: outcome.reason };
  }
  const said = `${seen.reason} ${seen.detail}`;
  if (USED.test(said)) return settled(null, null);
  return released(UNPAID.test(said) || FAILED_ON_CHAIN.test(said) ? seen.reason : OUTCOME_UNKNOWN);
}

/** The payer of an authorization is the one that signed it, whatever the facilitator says. */
function payerOf(row: PaymentRow, reported: string | null): string | null {
  return row.payer === "" ? reported : null;
}
