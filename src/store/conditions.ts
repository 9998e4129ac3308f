import { type AnyColumn, and, eq, gt, isNotNull, isNull, lt, lte, or, type SQL } from "drizzle-orm";

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

/** What comes behind an entry where the newest is first, and of one time the greatest id. No condition without an entry. */
export function isBehind<Id extends string>(
  columns: Columns<"createdAt" | Id>,
  id: Id,
  after: Readonly<Record<"createdAt", number> & Record<Id, string>> | null | undefined,
) {
  if (after === null || after === undefined) return undefined;
  const { createdAt } = columns;
  return or(lt(createdAt, after.createdAt), and(eq(createdAt, after.createdAt), lt(columns[id], after[id])));
}
