import type { KeptAnswer } from "./kept-answer.ts";
import type { Offer } from "./offer.ts";

/** A verified payment, as the work that it pays for sees it. */
export type Payment = {
  readonly paymentId: string;
  readonly x402Version: 1 | 2;
  /** CAIP-2. */
  readonly network: string;
  /** The facilitator's word on Solana. */
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amountMicroUsd: number;
  readonly nonce: string;
};

/** A payment that was settled. */
export type SettledPayment = Payment & {
  /** Null where the facilitator reports that it is settled and not by which transaction. */
  readonly transaction: string | null;
};

/** What the work has made, not yet paid. */
export type PreparedAnswer =
  | ({ readonly kind: "answer" } & KeptAnswer)
  | {
      readonly kind: "stream";
      /** Begins the reply, whose first byte is ready. `kept` resolves with what is kept of it, or null. */
      readonly start: (payment: SettledPayment) => PaidReply & { readonly kept: Promise<KeptAnswer | null> };
      /** Called instead of `start` where the payment was not settled. */
      readonly cancel: () => void;
    };

/** One call of a paid route. */
export type PaidCall = {
  readonly headers: { get(name: string): string | null };
  readonly offer: Offer;
  /** Everything that decides the answer, as text: method, path, query and body. */
  readonly request: string;
  /** Gets the id of the payment once it is taken up. */
  readonly onPayment?: (paymentId: string) => void;
  /**
   * Does what is paid for. Nothing is charged where it throws or prepares an answer that is no 2xx. A settled payment
   * whose answer was lost comes here again, and is not charged again.
   */
  readonly work: (payment: Payment) => Promise<PreparedAnswer>;
  /** Puts what only a settled payment shows into the answer, the same each time: a receipt. */
  readonly finish?: (answer: KeptAnswer, payment: SettledPayment) => KeptAnswer | Promise<KeptAnswer>;
};

/** The reply to a paid call. */
export type PaidReply = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | ByteSource;
};

/** Bytes that are sent on as they come, to one reader. */
export type ByteSource = {
  /** Begins to emit what there is and what comes; called once. */
  readonly flow: (sink: SourceSink) => void;
  /** The reader takes nothing for now: what comes waits. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** The reader has left; nothing is emitted any more. */
  readonly cancel: () => void;
};

export type SourceSink = {
  readonly write: (part: string) => void;
  readonly end: () => void;
  /** The source is broken; nothing comes behind it. */
  readonly fail: (error: unknown) => void;
};
