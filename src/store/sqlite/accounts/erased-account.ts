import { AccountErasedError } from "../../account-port.ts";
import type { AccountStatements } from "./account-statements.ts";

/** Throws an AccountErasedError for an account whose data were erased. Part of the transaction of what would outlast that. */
export function requireUnerased({ find }: Pick<AccountStatements, "find">, accountId: string): void {
  const erasedAt = find(accountId)?.erasedAt ?? null;
  if (erasedAt !== null) throw new AccountErasedError();
}
