import { asc, sql } from "drizzle-orm";
import { arrayOf, builtOnce, listIn, type Orm } from "./connection/orm.ts";
import { accounts } from "./schema.ts";

/**
 * Locks accounts until the end of the transaction. Whatever writes to an account locks it first, several in the order
 * of their ids, so that nobody waits in a circle.
 */
export async function lockAccounts(orm: Orm, accountIds: readonly string[]): Promise<void> {
  await accountLocks(orm).execute({ accountIds: arrayOf(accountIds) });
}

const accountLocks = builtOnce((orm) =>
  orm
    .select({ accountId: accounts.accountId })
    .from(accounts)
    .where(sql`${accounts.accountId} = ${listIn("accountIds", "text")}`)
    .orderBy(asc(accounts.accountId))
    .for("no key update")
    .prepare("lock_accounts"),
);
