import { asc, sql } from "drizzle-orm";
import { AccountErasedError } from "../account-port.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "./connection/orm.ts";
import { accounts } from "./schema.ts";

/**
 * Locks accounts until the end of the transaction. Whatever writes to an account locks it first, several in the order
 * of their ids, so that nobody waits in a circle.
 */
export async function lockAccounts(orm: Orm, accountIds: readonly string[]): Promise<void> {
  await accountLocks(orm).execute({ accountIds: arrayOf(accountIds) });
}

/**
 * Locks an account for a change that would outlast its erasure. Throws an AccountErasedError where its data were erased.
 */
export async function lockUnerased(orm: Orm, accountId: string): Promise<void> {
  const [account] = await accountLocks(orm).execute({ accountIds: arrayOf([accountId]) });
  if ((account?.erasedAt ?? null) !== null) throw new AccountErasedError();
}

const accountLocks = builtOnce((orm) =>
  orm
    .select({ accountId: accounts.accountId, erasedAt: accounts.erasedAt })
    .from(accounts)
    .where(sql`${accounts.accountId} = ${listIn("accountIds", "text")}`)
    .orderBy(asc(accounts.accountId))
    .for("no key update")
    .prepare("lock_accounts"),
);
