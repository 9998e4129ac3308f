import { ApiError } from "../contract/errors.ts";
import { createTally } from "../platform/tally.ts";

/** Locks payments in work or settlement, each for one call at a time. */
export type PaymentReservations = {
  readonly has: (paymentId: string) => boolean;
  readonly size: () => number;
  readonly hold: <T>(paymentId: string, work: () => Promise<T>) => Promise<T>;
  /** Holds a payment that is held already beyond its work, until the end of a stream. */
  readonly holdUntil: (paymentId: string, end: Promise<void>) => void;
  /** Holds one of the payer's places during the work. Throws `overloaded` where none is left. */
  readonly holdForPayer: <T>(payer: string, work: () => Promise<T>) => Promise<T>;
};

export function createPaymentReservations({
  perPayerMax,
}: {
  readonly perPayerMax: number;
}): PaymentReservations {
  const held = createTally();
  const heldByPayer = createTally();
  async function hold<T>(paymentId: string, work: () => Promise<T>): Promise<T> {
    held.add(paymentId, 1);
    try {
      return await work();
    } finally {
      held.add(paymentId, -1);
    }
  }
  return {
    has: (paymentId) => held.count(paymentId) > 0,
    size: held.size,
    hold,
    holdUntil: (paymentId, end) => void hold(paymentId, () => end),
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
