/** How an answer ended, as its receipt says. */
export const RECEIPT_OUTCOMES = ["complete", "upstream_failed", "caller_left", "interrupted"] as const;

/** What a receipt says, signed. Amounts are in atomic units of the asset; hashes are SHA-256 in hex. */
export type Receipt = {
  readonly receipt_id: string;
  readonly resource_url: string;
  readonly payer: string;
  readonly pay_to: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly quote_id: string | null;
  readonly transaction: string | null;
  readonly payment_nonce: string;
  readonly request_sha256: string;
  /** Over the canonical JSON of `choices`; null where nothing came that could be hashed. */
  readonly response_sha256: string | null;
  readonly model_requested: string;
  readonly model_served: string | null;
  readonly usage: { readonly [name: string]: unknown } | null;
  readonly started_at: string;
  readonly first_token_ms: number | null;
  readonly finished_at: string;
  readonly outcome: (typeof RECEIPT_OUTCOMES)[number];
  /** Of the receipt before, as it was issued; null for the first of all. */
  readonly prev_receipt_sha256: string | null;
};

/** What was looked at, and what was found. */
export type ReceiptCheck = {
  readonly check: "format" | "signature" | "issued" | "chain" | "payment" | "request" | "response";
  readonly passed: boolean;
  readonly detail: string;
};
