import { formatUsd } from "../billing/money.ts";
import type { PaymentView } from "../contract/specification/payments/payment.ts";
import type { PaymentRow } from "../store/payment-port.ts";

/** Returns the public fields of a payment. The resource is shown without its query, which may be private. */
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
