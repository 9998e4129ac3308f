import type { AtOnce } from "../../../platform/answer.ts";
import { dayOf } from "../../../platform/days.ts";
import {
  AccountErasedError,
  type AccountOverview,
  type AccountPort,
  type KeyPort,
} from "../../account-port.ts";
import type { AccountMonth } from "../../account-records.ts";
import type { MonthPort } from "../../billing-port.ts";
import type { PlanPeriodStatements } from "../billing/plan-period-statements.ts";
import type { UsageStatements } from "../billing/usage-statements.ts";
import type { Transact } from "../connection/connection.ts";
import type { ReplyStatements } from "../reply-statements.ts";
import { type EventStatements, emit } from "../webhooks/webhook-cases.ts";
import type { AccountStatements } from "./account-statements.ts";
import { requireUnerased } from "./erased-account.ts";
import type { KeyUseStatements } from "./key-use-statements.ts";

type Statements = EventStatements & {
  readonly accounts: AccountStatements;
  readonly keyUses: KeyUseStatements;
  readonly planPeriods: PlanPeriodStatements;
  readonly usage: UsageStatements;
  readonly replies: ReplyStatements;
};

/** Accounts, their keys and the months that they are in. */
export function createAccountCases(
  { accounts, keyUses, planPeriods, usage, replies, webhooks, deliveries }: Statements,
  transact: Transact,
): AtOnce<AccountPort & KeyPort & MonthPort> {
  function monthOf(accountId: string): AccountMonth | null {
    const account = accounts.find(accountId);
    const running = planPeriods.running(accountId);
    if (account === undefined || running === undefined) return null;
    return { account, planPeriods: planPeriods.ofMonth(accountId, running.periodStart) };
  }

  function existingMonth(accountId: string): AccountMonth {
    const month = monthOf(accountId);
    if (month === null) throw new AccountErasedError();
    return month;
  }

  function overviewOf(accountId: string): AccountOverview {
    const month = existingMonth(accountId);
    const [first] = month.planPeriods;
    if (first === undefined) throw new Error("the account has no plan period");
    const { periodStart, periodEnd } = first;
    return { month, usage: usage.byEndpoint(accountId, dayOf(periodStart), dayOf(periodEnd - 1)) };
  }

  return {
    signUp: (account, key, planPeriod) =>
      transact(() => {
        if (!accounts.insert(account)) return false;
        accounts.insertKey(key);
        planPeriods.insert(planPeriod);
        return true;
      }),

    readOverview: overviewOf,

    findAccount: (accountId) => accounts.find(accountId) ?? null,

    changePlan: (accountId, decide, replyOf) =>
      transact(() => {
        const before = existingMonth(accountId);
        const { plan, pendingPlan, spendLimitMicroUsd, started } = decide(before);
        if (started !== null) {
          const running = before.planPeriods.at(-1);
          if (running !== undefined) planPeriods.end(running.planPeriodId, started.startsAt);
          planPeriods.insert(started);
        }
        accounts.setPlan(accountId, plan, pendingPlan);
        if (spendLimitMicroUsd !== undefined) accounts.setSpendLimit(accountId, spendLimitMicroUsd);
        const after = overviewOf(accountId);
        const reply = replyOf(after);
        if (reply !== null) replies.put(reply);
        return after;
      }),

    findKey: (keyHash) => accounts.findKey(keyHash) ?? null,

    listKeys: accounts.keys,

    addKey: (key, keysMax, reply) =>
      transact(() => {
        requireUnerased(accounts, key.accountId);
        if (accounts.workingKeys(key.accountId, key.createdAt).length >= keysMax) return false;
        accounts.insertKey(key);
        if (reply !== null) replies.put(reply);
        return true;
      }),

    rotateKey: (key, { keyId, endsAt, check }, reply) =>
      transact(() => {
        requireUnerased(accounts, key.accountId);
        const working = accounts.workingKeys(key.accountId, key.createdAt);
        const replaced = working.filter((known) => keyId === null || known.keyId === keyId);
        if (keyId !== null && replaced.length === 0) return false;
        check?.(working);
        for (const { keyHash } of replaced) accounts.endKey(keyHash, endsAt, endsAt <= key.createdAt);
        accounts.insertKey(key);
        if (reply !== null) replies.put(reply);
        return true;
      }),

    revokeKey: (accountId, keyId, at, check) =>
      transact(() => {
        const working = accounts.workingKeys(accountId, at);
        const key = working.find((known) => known.keyId === keyId);
        if (key === undefined) return false;
        check(working);
        accounts.revokeKey(key.keyHash, at);
        return true;
      }),

    markKeysUsed: (uses) =>
      transact(() => {
        for (const use of uses) keyUses.mark(use);
      }, "with_sync"),

    emitExpiringKeys: ({ after, until, limit }, eventOf) => {
      const keys = accounts.isNoneExpiring(after, until) ? [] : accounts.expiringKeys(after, until, limit);
      if (keys.length === 0) return 0;
      return transact(() => {
        for (const key of keys) {
          accounts.markExpiryEvent(key.keyHash, after);
          emit({ webhooks, deliveries }, key.accountId, eventOf(key));
        }
        return keys.length;
      });
    },

    removeEndedKeys: (endedUntil, limit) => transact(() => accounts.removeEndedKeys(endedUntil, limit)),

    readMonth: monthOf,

    // At the turn of a month every account that is in use does this with a call. What is charged or invoiced in the month
    // takes it to the disk, as it follows in the log. A month that a power cut undoes is entered again.
    enterMonth: (accountIds, monthsOf) =>
      transact(() => {
        for (const accountId of accountIds) {
          const { account, planPeriods: known } = existingMonth(accountId);
          let running = known.at(-1);
          if (running === undefined) continue;
          const started = monthsOf(account, running);
          for (const planPeriod of started) {
            planPeriods.end(running.planPeriodId, running.periodEnd);
            running = planPeriods.insert(planPeriod);
          }
          if (started.length > 0) accounts.setPlan(accountId, running.plan, null);
        }
      }, "with_sync"),

    accountsToEnter: planPeriods.runningDue,
  };
}
