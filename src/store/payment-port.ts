/** A payment whose settlement was to be sent. Times are milliseconds since the epoch. */
export type PaymentRow = {
  readonly paymentId: string;
  /** CAIP-2. */
  readonly network: string;
  readonly payer: string;
  readonly payTo: string;
  readonly asset: string;
  readonly amountMicroUsd: number;
  readonly resource: string;
  readonly x402Version: number;
  /** SHA-256 of the signed payment. */
  readonly proof: string;
  /** SHA-256 of the request that the payment bought an answer to. */
  readonly fingerprint: string;
  readonly state: "settling" | "settled" | "released";
  /** Why it was released. */
  readonly reason: string | null;
  /** True where a settlement was sent and its outcome is unknown. */
  readonly isDoubtful: boolean;
  readonly transaction: string | null;
  /** What the facilitator is sent; null once it is settled. */
  readonly request: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
  /** What was bought, encrypted, until it expires. */
  readonly answer: string | null;
  readonly answerExpiresAt: number;
};

/** The journal of settlements and the ledger of payments. What is written is on the disk when a call returns. */
export type PaymentStore = {
  /** Its answer is read from the disk each time that it is looked at. */
  readonly find: (paymentId: string) => PaymentRow | undefined;
  /** Returns the length of a payment's answer, encrypted, without reading it; 0 where none is kept. */
  readonly answerLength: (paymentId: string) => number;
  readonly insert: (row: PaymentRow) => void;
  /** Writes that a settlement is sent once more. */
  readonly resume: (paymentId: string) => void;
  /** Writes that a settlement was sent whose outcome is unknown. */
  readonly doubt: (paymentId: string) => void;
  readonly settle: (
    paymentId: string,
    settled: { readonly transaction: string | null; readonly payer: string | null; readonly at: number },
  ) => void;
  /** Writes that nothing was paid. It stays doubtful unless that is proved. */
  readonly release: (paymentId: string, reason: string, isDoubtful: boolean) => void;
  readonly keepAnswer: (paymentId: string, answer: string) => void;
  /** Returns up to `limit` payments of unknown outcome, oldest first. */
  readonly settling: (limit: number) => readonly { readonly paymentId: string }[];
  /** Removes up to `limit` answers that have expired; returns how many. */
  readonly removeExpiredAnswers: (now: number, limit: number) => number;
  /** Writes to the disk, and changes nothing: throws where no payment could be written. */
  readonly probe: () => void;
  /** Returns count and sum of all payments that are settled. */
  readonly settledTotals: () => { readonly count: number; readonly microUsd: number };
};
