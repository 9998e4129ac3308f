import { formatUsd } from "../billing/money.ts";
import type { PaymentRow } from "../store/payment-port.ts";

/** A payment as `GET /v1/payments/{id}` shows it. */
export type PaymentView = {
  readonly payment_id: string;
  /** `settling`: the outcome is not known yet; `released`: not charged. */
  readonly status: "settling" | "settled" | "released";
  readonly reason: string | null;
  readonly network: string;
  readonly payer: string;
  readonly pay_to: string;
  readonly asset: string;
  readonly amount: string;
  readonly amount_usd: string;
  readonly transaction: string | null;
  readonly resource: string;
  readonly created_at: string;
  readonly settled_at: string | null;
};

/** Returns what is public of a payment. The resource is shown without its query, which may name what was asked. */
export function paymentView(row: PaymentRow): PaymentView {
  return {
    payment_id: row.paymentId,
    status: row.state,
    reason: row.reason,
    network: row.network,
    payer: row.payer,
    pay_to: row.payTo,
    asset: row.asset,
    amount: String(row.amountMicroUsd),
    amount_usd: formatUsd(row.amountMicroUsd),
    transaction: row.transaction,
    resource: row.resource.replace(/[?#].*$/s, ""),
    created_at: new Date(row.createdAt).toISOString(),
    settled_at: row.settledAt === null ? null : new Date(row.settledAt).toISOString(),
  };
}
