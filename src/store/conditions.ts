import { type AnyColumn, and, eq, gt, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";

// Conditions that both stores select by, over the columns of either.

type Columns<Name extends string> = { readonly [name in Name]: AnyColumn };

/** Plan periods that have ended, in a month that is over, and have no invoice. */
export function isToInvoice(
  { invoiceId, endsAt, periodEnd }: Columns<"invoiceId" | "endsAt" | "periodEnd">,
  now: number,
) {
  return and(isNull(invoiceId), isNotNull(endsAt), lte(periodEnd, now));
}

type KeyColumns = Columns<"accountId" | "expiresAt" | "revokedAt">;

/** Keys of an account that work at a time, in two parts, as one index finds either. */
export function workingKeys(keys: KeyColumns, accountId: string, at: number | SQL<number>) {
  const unrevoked = and(eq(keys.accountId, accountId), isNull(keys.revokedAt));
  return [and(unrevoked, isNull(keys.expiresAt)), and(unrevoked, gt(keys.expiresAt, at))] as const;
}

/** Keys of an account that expired in a range of time, and those that were revoked in it. */
export function endedKeys(keys: KeyColumns, accountId: string, after: number, until: number) {
  const own = eq(keys.accountId, accountId);
  const isUnexpired = or(isNull(keys.expiresAt), gt(keys.expiresAt, after));
  return {
    expired: and(own, isNull(keys.revokedAt), gt(keys.expiresAt, after), lte(keys.expiresAt, until)),
    revoked: and(own, gt(keys.revokedAt, after), isUnexpired),
  };
}

/** What comes behind an entry where the newest is first, and of one time the greatest id. No condition without an entry. */
export function isBehind<Id extends string>(
  columns: Columns<"createdAt" | Id>,
  id: Id,
  after: Readonly<Record<"createdAt", number> & Record<Id, string>> | null | undefined,
) {
  if (after === null || after === undefined) return undefined;
  const { createdAt, [id]: ownId } = columns;
  // Rows are compared as such: by an OR of two comparisons all that comes before the entry would be read.
  const entry = sql`(${sql.param(after.createdAt, createdAt)}, ${sql.param(after[id], ownId)})`;
  return sql`(${createdAt}, ${ownId}) < ${entry}`;
}
