import type { PaymentRow, PaymentStore } from "../store/payment-port.ts";
import { type SettlementDependencies, type SettlementResult, settle } from "./settlement.ts";

/** Sends the settlements of payments in the journal, and knows which of the open ones were never sent. */
export type OpenSettlements = {
  /** Settles a payment that was just written to the journal. */
  readonly first: (row: PaymentRow) => Promise<SettlementResult>;
  /** Settles a payment that is open or was released. */
  readonly again: (row: PaymentRow) => Promise<SettlementResult>;
};

export type OpenSettlementsDependencies = SettlementDependencies & {
  readonly store: Pick<PaymentStore, "resume">;
  readonly reportError: (error: unknown) => void;
};

/** Beyond these, one that was never sent counts as perhaps sent. */
const UNSENT_MAX = 10_000;

export function createOpenSettlements(dependencies: OpenSettlementsDependencies): OpenSettlements {
  const { store, reportError } = dependencies;
  /** In memory alone: of what a former process left open it is not known whether it was sent. */
  const unsent = new Set<string>();

  /** Where the outcome cannot be written, it is unknown. */
  async function send(row: PaymentRow): Promise<SettlementResult> {
    const result = await settle(dependencies, row).catch((error: unknown): SettlementResult => {
      reportError(error);
      return { kind: "unknown", isDoubtful: true };
    });
    if (result.kind !== "unknown" || result.isDoubtful) unsent.delete(row.paymentId);
    else if (unsent.size < UNSENT_MAX) unsent.add(row.paymentId);
    return result;
  }

  return {
    first: send,
    async again(row) {
      const isDoubtful = row.isDoubtful || (row.state === "settling" && !unsent.has(row.paymentId));
      if (row.state === "released") store.resume(row.paymentId);
      return send({ ...row, isDoubtful });
    },
  };
}
