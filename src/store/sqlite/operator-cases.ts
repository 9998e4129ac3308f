import type { AtOnce } from "../../platform/answer.ts";
import type { OperatorPort } from "../operator-port.ts";
import type { Transact } from "./connection.ts";
import type { Statements } from "./statements.ts";

/** What operators ask and do, and the kept clock. */
export function createOperatorCases(
  { accounts, planPeriods, operators, clock, webhooks, jobs }: Statements,
  transact: Transact,
): AtOnce<OperatorPort> {
  return {
    findAccountByMailbox: (normalized) => accounts.findByMailbox(normalized) ?? null,
    accountPage: accounts.page,
    suspendAccount: (accountId, suspendedAt, act) =>
      transact(() => {
        accounts.setSuspended(accountId, suspendedAt);
        operators.record(act);
      }),
    creditUnits: (planPeriodId, units, act) =>
      transact(() => {
        planPeriods.credit(planPeriodId, units);
        operators.record(act);
      }),
    eraseAccount: (accountId, erasedAt, act) =>
      transact(() => {
        const running = planPeriods.running(accountId);
        if (running !== undefined) {
          planPeriods.end(
            running.planPeriodId,
            Math.max(running.startsAt, Math.min(erasedAt, running.periodEnd)),
          );
        }
        accounts.erase(accountId, erasedAt);
        jobs.deleteOf(accountId, erasedAt);
        for (const { webhookId } of webhooks.ofAccount(accountId)) webhooks.remove(webhookId);
        operators.record(act);
      }),
    askCommand: operators.ask,
    nextCommand: () => operators.next() ?? null,
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
