import { ApiError } from "../contract/errors.ts";
import { createTally } from "../platform/tally.ts";

/** Locks payments in work or settlement, each for one call at a time. */
export type PaymentReservations = {
  readonly has: (paymentId: string) => boolean;
  readonly size: () => number;
  readonly hold: <T>(paymentId: string, work: () => Promise<T>) => Promise<T>;
  /** Holds one of the payer's places during the work. Throws `overloaded` where none is left. */
  readonly holdForPayer: <T>(payer: string, work: () => Promise<T>) => Promise<T>;
};

export function createPaymentReservations({
  perPayerMax,
}: {
  readonly perPayerMax: number;
}): PaymentReservations {
  const held = new Set<string>();
  const heldByPayer = createTally();
  return {
    has: (paymentId) => held.has(paymentId),
    size: () => held.size,
    async hold(paymentId, work) {
      held.add(paymentId);
      try {
        return await work();
      } finally {
        held.delete(paymentId);
      }
    },
    async holdForPayer(payer, work) {
      if (heldByPayer.count(payer) >= perPayerMax) {
        throw new ApiError("overloaded", `At most ${perPayerMax} calls of one payer run at once.`);
      }
      heldByPayer.add(payer, 1);
      try {
        return await work();
      } finally {
        heldByPayer.add(payer, -1);
      }
    },
  };
}
