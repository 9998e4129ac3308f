import { secondOf } from "../billing/period.ts";
import type { Answer } from "../platform/answer.ts";
import type { AccountRecord } from "../store/account-records.ts";
import type { CommandAnswer, OperatorCommand } from "../store/operator-port.ts";

/** The outcome of a command; a sentence for one that failed. */
export type OperatorOutcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly reason: string };

/** Makes a change whose outcome is known before it, and gives it what to write of its command in the same transaction. */
export async function answered(
  asked: OperatorCommand | undefined,
  result: unknown,
  change: (answer?: CommandAnswer) => Answer<void>,
): Promise<OperatorOutcome> {
  const outcome = { ok: true, result } as const;
  await change(asked && { commandId: asked.commandId, outcome: JSON.stringify(outcome) });
  return outcome;
}

/** An account as an operator sees it in a list. */
export function summaryOf({ accountId, email, plan, createdAt, suspendedAt, erasedAt }: AccountRecord) {
  return {
    account_id: accountId,
    email,
    plan,
    created_at: secondOf(createdAt),
    suspended: suspendedAt !== null,
    erased: erasedAt !== null,
  };
}
