/** A receipt that is promised, and issued when its answer has ended. */
export type OpenReceiptRow = {
  readonly receiptId: string;
  readonly paymentId: string;
  /** What is known at the start, as JSON. */
  readonly begun: string;
};

export type IssuedReceiptRow = {
  readonly receiptId: string;
  readonly paymentId: string;
  /** From 1 on, without a gap. */
  readonly position: number;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly jws: string;
  /** Of the JWS, in hex. */
  readonly sha256: string;
};

/** Where the chain of receipts ends. */
export type ChainEnd = {
  /** Null before the first receipt. */
  readonly previousSha256: string | null;
  /** The Merkle tree of the day so far, as JSON; null before its first receipt. */
  readonly tree: string | null;
};

export type SealedReceipt = Pick<IssuedReceiptRow, "jws" | "sha256"> & { readonly tree: string };

export type ReceiptDay = { readonly day: string; readonly tree: string };

/** The chain of receipts. What is written is on the disk when a call returns, and what is issued never changes. */
export type ReceiptStore = {
  readonly open: (row: OpenReceiptRow) => void;
  /** Issues an open receipt as the next of the chain, in one transaction. */
  readonly issue: (
    receiptId: string,
    day: string,
    seal: (end: ChainEnd) => SealedReceipt,
  ) => IssuedReceiptRow;
  readonly find: (receiptId: string) => IssuedReceiptRow | undefined;
  /** Returns the receipt at a position of the chain. */
  readonly at: (position: number) => IssuedReceiptRow | undefined;
  /** Returns the last receipt that was issued for a payment. */
  readonly findByPayment: (paymentId: string) => IssuedReceiptRow | undefined;
  /** Returns up to `limit` receipts that are still open, oldest first. */
  readonly opened: (limit: number) => readonly OpenReceiptRow[];
  /** Returns up to `limit` days before a day, newest first. */
  readonly days: (before: string, limit: number) => readonly ReceiptDay[];
  /** Returns up to `limit` receipts of a day behind a position, in order. */
  readonly ofDay: (day: string, after: number, limit: number) => readonly IssuedReceiptRow[];
};
