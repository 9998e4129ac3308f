import type { Clock } from "../platform/clock.ts";
import type { FairTurns } from "../platform/fair-turns.ts";
import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import type { Facilitator, FacilitatorRequest } from "./facilitator.ts";

export type SettlementResult =
  | { readonly kind: "settled"; readonly transaction: string | null; readonly payer: string }
  | { readonly kind: "released"; readonly reason: string }
  /** Where nothing was sent, the payment is as valid as before. */
  | { readonly kind: "unknown"; readonly isSent: boolean };

export type SettlementDependencies = {
  readonly store: Pick<PaymentStore, "settle" | "release" | "doubt">;
  readonly facilitator: Pick<Facilitator, "settle" | "verify">;
  readonly clock: Clock;
  /** For what waits for the disk. */
  readonly turns: FairTurns;
};

/** The reason of a payment that expired before the outcome of its settlement was known. */
export const OUTCOME_UNKNOWN = "outcome_unknown";

/** Reasons that show the nonce or the transaction on the chain. */
const USED = /nonce.*used|already[_ -]?(used|processed|settled)|authorization.*used/i;
/** Reasons that prove that nothing was paid: the token checks the nonce before the balance. */
const UNPAID = /insufficient|exceeds balance/i;
/** Reasons of a transaction that failed on the chain, which a paid one cannot. */
const FAILED_ON_CHAIN = /InstructionError|custom program error/i;
/** Reasons of a transaction that the facilitator may have broadcast, with an unknown outcome. */
const UNDECIDED = /transaction_(failed|state)|unexpected|duplicate|no reason|error/i;
const DUPLICATE = /duplicate/i;

/** Whether a reason shows that the nonce or the transaction of a payment is on the chain, where it stays. */
export function showsUse(reason: string): boolean {
  return USED.test(reason);
}

/** Sends the settlement of a payment in the journal, and writes its outcome there. */
export async function settle(
  dependencies: SettlementDependencies,
  row: PaymentRow,
): Promise<SettlementResult> {
  const first = await attempt(dependencies, row);
  if (first.kind !== "untried") return first;
  // The facilitator could not broadcast it, or lost track of it. If it is on its way to the chain after all, it has arrived
  // by the next try.
  const second = await attempt(dependencies, { ...row, isDoubtful: true });
  if (second.kind !== "untried") return second;
  dependencies.store.release(row.paymentId, second.reason, true);
  return { kind: "released", reason: second.reason };
}

/** The settlement was refused without effect: the payment is as valid as before. */
type Untried = { readonly kind: "untried"; readonly reason: string };

async function attempt(
  { store, facilitator, clock, turns }: SettlementDependencies,
  row: PaymentRow,
): Promise<SettlementResult | Untried> {
  const request = JSON.parse(row.request ?? "null") as FacilitatorRequest;
  const outcome = await facilitator.settle(request);
  await turns.turnOf(row.payer);
  const settled = (transaction: string | null, payer: string | null): SettlementResult => {
    store.settle(row.paymentId, { transaction, payer, at: clock.now() });
    return { kind: "settled", transaction, payer: payer ?? row.payer };
  };
  const released = (reason: string, isDoubtful = false): SettlementResult => {
    store.release(row.paymentId, reason, isDoubtful);
    return { kind: "released", reason };
  };
  if (outcome.kind === "settled") return settled(outcome.transaction, payerOf(row, outcome.payer));
  if (outcome.kind === "unknown") {
    store.doubt(row.paymentId);
    return { kind: "unknown", isSent: true };
  }
  if (outcome.kind === "unsent") return { kind: "unknown", isSent: false };
  // A settlement that we had never sent cannot be ours: its nonce was used elsewhere. Nor has one paid whose only
  // transaction failed on the chain.
  const mayBeOurs = outcome.kind === "refused" && UNDECIDED.test(outcome.reason);
  if (!row.isDoubtful && !mayBeOurs) return released(outcome.reason);
  store.doubt(row.paymentId);
  if (USED.test(outcome.reason)) return settled(null, null);
  if (UNPAID.test(outcome.reason)) return released(outcome.reason);
  const seen = await facilitator.verify(request);
  await turns.turnOf(row.payer);
  if (seen.kind === "unreachable") return { kind: "unknown", isSent: true };
  if (seen.kind === "valid") {
    return DUPLICATE.test(outcome.reason)
      ? { kind: "unknown", isSent: true }
      : { kind: "untried", reason: outcome.reason };
  }
  const said = `${seen.reason} ${seen.detail}`;
  if (USED.test(said)) return settled(null, null);
  if (UNPAID.test(said) || FAILED_ON_CHAIN.test(said)) return released(seen.reason);
  return released(OUTCOME_UNKNOWN, true);
}

/** The payer of an authorization is its signer, whatever the facilitator reports. */
function payerOf(row: PaymentRow, reported: string | null): string | null {
  return row.payer === "" ? reported : null;
}
