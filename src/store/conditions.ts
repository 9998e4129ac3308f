import { type AnyColumn, and, eq, gt, isNotNull, isNull, lte, or, type SQL } from "drizzle-orm";

// Conditions that both stores select by, over the columns of either.

type Columns<Name extends string> = { readonly [name in Name]: AnyColumn };

/** Plan periods that have ended, in a month that is over, and have no invoice. */
export function isToInvoice(
  { invoiceId, endsAt, periodEnd }: Columns<"invoiceId" | "endsAt" | "periodEnd">,
  now: number,
) {
  return and(isNull(invoiceId), isNotNull(endsAt), lte(periodEnd, now));
}

/** Keys of an account that work, or ended after `endedAfter`. */
export function worksAfter(
  keys: Columns<"accountId" | "expiresAt" | "revokedAt">,
  accountId: string,
  endedAfter: number | SQL<number>,
) {
  return and(
    eq(keys.accountId, accountId),
    or(isNull(keys.expiresAt), gt(keys.expiresAt, endedAfter)),
    or(isNull(keys.revokedAt), gt(keys.revokedAt, endedAfter)),
  );
}
