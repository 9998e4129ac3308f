import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import type { Facilitator, FacilitatorRequest } from "./facilitator.ts";
import { type SettlementDependencies, type SettlementResult, settle, showsUse } from "./settlement.ts";

/** Sends the settlements of payments in the journal, and knows which of the open ones were never sent. */
export type OpenSettlements = {
  /** Settles a payment that was just written to the journal. */
  readonly first: (row: PaymentRow) => Promise<SettlementResult>;
  /**
   * Settles a payment that is open or was released. One that was released, or is surely unpaid, is sent only where it still
   * verifies: its nonce may have been used or its time be over, which behind a lost settlement would look like our own
   * work. Throws what `verify` throws.
   */
  readonly again: (row: PaymentRow, verify: Facilitator["verify"]) => Promise<SettlementResult>;
};

export type OpenSettlementsDependencies = SettlementDependencies & {
  readonly store: Pick<PaymentStore, "resume">;
  readonly reportError: (error: unknown) => void;
};

/** Beyond these, one that was never sent counts as perhaps sent. */
const UNSENT_MAX = 10_000;

export function createOpenSettlements(dependencies: OpenSettlementsDependencies): OpenSettlements {
  const { store, turns, reportError } = dependencies;
  /** In memory alone: of what a former process left open it is not known whether it was sent. */
  const unsent = new Set<string>();

  /** Sends a payment that is surely unpaid, or may be paid. Where the outcome cannot be written, it is unknown. */
  async function send(row: PaymentRow, isUnpaid: boolean): Promise<SettlementResult> {
    const result = await settle(dependencies, row).catch((error: unknown): SettlementResult => {
      reportError(error);
      return { kind: "unknown", isSent: true };
    });
    if (result.kind !== "unknown" || result.isSent) unsent.delete(row.paymentId);
    else if (isUnpaid && unsent.size < UNSENT_MAX) unsent.add(row.paymentId);
    return result;
  }

  /** Returns what is known of a payment that counts as unpaid and may not be sent; null where it may. */
  async function refusalOf(
    { paymentId, payer, state, reason, request, isDoubtful }: PaymentRow,
    verify: Facilitator["verify"],
  ): Promise<SettlementResult | null> {
    const past = state === "released" ? (reason ?? "the payment was released") : null;
    if (past !== null && showsUse(past)) return { kind: "released", reason: past };
    const seen = await verify(JSON.parse(request ?? "null") as FacilitatorRequest);
    await turns.turnOf(payer);
    if (seen.kind === "valid") return null;
    if (seen.kind === "invalid") {
      store.release(paymentId, seen.reason, isDoubtful);
      unsent.delete(paymentId);
      return { kind: "released", reason: seen.reason };
    }
    return past === null ? { kind: "unknown", isSent: false } : { kind: "released", reason: past };
  }

  return {
    first: (row) => send(row, true),
    async again(row, verify) {
      // A released one was refused as unpaid, whatever it left in doubt, and is so until it is sent again.
      const isUnpaid = row.state === "released" || unsent.has(row.paymentId);
      const refused = isUnpaid ? await refusalOf(row, verify) : null;
      if (refused !== null) return refused;
      if (row.state === "released") store.resume(row.paymentId);
      return send({ ...row, isDoubtful: row.isDoubtful || !isUnpaid }, isUnpaid);
    },
  };
}
