import type { ApiError } from "../contract/errors.ts";
import type { KeptAnswer } from "./kept-answer.ts";
import type { Offer } from "./offer.ts";

/** A verified payment, as passed to the work. */
export type Payment = {
  readonly paymentId: string;
  readonly x402Version: 1 | 2;
  /** CAIP-2. */
  readonly network: string;
  /** On Solana as reported by the facilitator. */
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amountMicroUsd: number;
  readonly nonce: string;
};

/** A payment that was settled. */
export type SettledPayment = Payment & {
  /** Null where the facilitator reports no transaction. */
  readonly transaction: string | null;
};

/** The outcome of the work, before the settlement. */
export type PreparedAnswer =
  | ({ readonly kind: "answer" } & KeptAnswer)
  | {
      readonly kind: "stream";
      /** Starts the reply, whose first byte is ready. `kept` resolves at its end with the answer to keep, or null. */
      readonly start: (payment: SettledPayment) => PaidReply & { readonly kept: Promise<KeptAnswer | null> };
      /** Called instead of `start` where the payment was not settled, and where `start` fails. */
      readonly cancel: () => void;
    };

/** One call of a paid route. */
export type PaidCall = {
  readonly headers: { get(name: string): string | null };
  /**
   * Opaque: the key of the client's address, as the payer is not known before its payment is verified. The calls of the
   * service itself have none.
   */
  readonly tenant?: string;
  readonly offer: Offer;
  /** Why the payment matches no requirement, where that is known better here. */
  readonly mismatch?: string;
  /** Why the call is not sold any more: thrown unless its payment has bought the answer before. */
  readonly refused?: ApiError;
  /** All that determines the answer, as text: method, path, query and body. */
  readonly request: string;
  /** Called with the id of the payment. */
  readonly onPayment?: (paymentId: string) => void;
  /**
   * Does the paid work. Nothing is charged where it throws or its answer is not a 2xx. It runs again for a settled payment
   * whose answer was lost, which is not charged again.
   */
  readonly work: (payment: Payment) => Promise<PreparedAnswer>;
  /** Adds to the answer what depends on the settled payment, such as a receipt. Must be deterministic. */
  readonly finish?: (answer: KeptAnswer, payment: SettledPayment) => KeptAnswer | Promise<KeptAnswer>;
};

/** The reply to a paid call. */
export type PaidReply = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | ByteSource;
};

/** Bytes that are pushed to one reader as they arrive. */
export type ByteSource = {
  /** Starts to emit, with buffered bytes first; called once. */
  readonly flow: (sink: SourceSink) => void;
  /** Pauses: further bytes are buffered. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Stops emitting, because the reader has left. */
  readonly cancel: () => void;
};

export type SourceSink = {
  readonly write: (part: string) => void;
  readonly end: () => void;
  /** Called last where the source fails. */
  readonly fail: (error: unknown) => void;
};
