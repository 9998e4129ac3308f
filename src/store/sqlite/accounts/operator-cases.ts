import type { AtOnce } from "../../../platform/answer.ts";
import { erasingMailbox } from "../../erased-mailbox.ts";
import { type OperatorPort, requireOpen, UNREPORTED } from "../../operator-port.ts";
import type { ClockStatements } from "../billing/clock-statements.ts";
import type { PlanPeriodStatements } from "../billing/plan-period-statements.ts";
import type { Transact } from "../connection/connection.ts";
import type { WebhookStatements } from "../webhooks/webhook-statements.ts";
import type { AccountStatements } from "./account-statements.ts";
import { requireUnerased } from "./erased-account.ts";
import type { ErasureStatements } from "./erasure-statements.ts";
import type { OperatorStatements } from "./operator-statements.ts";

type Statements = {
  readonly accounts: AccountStatements;
  readonly planPeriods: PlanPeriodStatements;
  readonly operators: OperatorStatements;
  readonly clock: ClockStatements;
  readonly erasures: ErasureStatements;
  readonly webhooks: WebhookStatements;
};

/** What operators ask and do, and the kept clock. */
export function createOperatorCases(
  { accounts, planPeriods, operators, clock, webhooks, erasures }: Statements,
  transact: Transact,
): AtOnce<OperatorPort> {
  /** Returns when an account was erased of which something is left to clear; else null. */
  function erasingSince(accountId: string): number | null {
    const account = accounts.find(accountId);
    return account?.normalized === erasingMailbox(accountId) ? account.erasedAt : null;
  }

  return {
    findAccountByMailbox: (normalized) => accounts.findByMailbox(normalized) ?? null,
    accountPage: accounts.page,
    suspendAccount: (accountId, suspendedAt, act, answer) =>
      transact(() => {
        accounts.setSuspended(accountId, suspendedAt);
        operators.record(act);
        if (answer !== undefined) requireOpen(operators.end(answer.commandId, answer.outcome));
      }),
    creditUnits: (planPeriodId, units, act, commandId) =>
      transact(() => {
        planPeriods.credit(planPeriodId, units);
        operators.record(act);
        if (commandId !== undefined) requireOpen(operators.end(commandId, UNREPORTED));
      }),
    replaceKeys: (key, act, answer) =>
      transact(() => {
        requireUnerased(accounts, key.accountId);
        for (const { keyHash } of accounts.workingKeys(key.accountId, key.createdAt)) {
          accounts.endKey(keyHash, key.createdAt, true);
        }
        accounts.insertKey(key);
        operators.record(act);
        if (answer !== undefined) requireOpen(operators.end(answer.commandId, answer.outcome));
      }),
    eraseAccount: (accountId, erasedAt, act, answer) =>
      transact(() => {
        const running = planPeriods.running(accountId);
        if (running !== undefined) {
          planPeriods.end(
            running.planPeriodId,
            Math.max(running.startsAt, Math.min(erasedAt, running.periodEnd)),
          );
        }
        accounts.erase(accountId, erasedAt);
        erasures.deleteUnfinished(accountId, erasedAt);
        for (const { webhookId } of webhooks.ofAccount(accountId)) webhooks.remove(webhookId);
        operators.record(act);
        if (answer !== undefined) requireOpen(operators.end(answer.commandId, answer.outcome));
      }),
    accountsToClear: erasures.underWay,
    clearErasedKeys: (accountId, limit) =>
      transact(() => (erasingSince(accountId) === null ? 0 : accounts.removeKeysOf(accountId, limit))),
    clearErasedJobs: (accountId, after, limit) =>
      transact(() => {
        const erasedAt = erasingSince(accountId);
        if (erasedAt === null) return null;
        const last = erasures.deleteNext({ accountId, erasedAt }, after, limit);
        if (last === null) erasures.end(accountId);
        return last;
      }),
    askCommand: operators.ask,
    nextCommand: (behindId) => operators.next(behindId) ?? null,
    answerCommand: operators.answer,
    commandOutcome: operators.outcome,
    withdrawCommand: operators.withdraw,
    removeCommand: operators.remove,
    removeAnsweredCommands: operators.removeAnswered,
    recordAct: operators.record,
    acts: operators.acts,
    findKeptClock: () => clock.find() ?? null,
    keepClock: clock.keep,
    confirmClock: clock.confirm,
  };
}
