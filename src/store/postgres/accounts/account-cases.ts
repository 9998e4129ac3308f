import { and, asc, eq, isNull, lte } from "drizzle-orm";
import type { AccountPort } from "../../account-port.ts";
import type { MonthPort } from "../../billing-port.ts";
import { lockAccounts } from "../account-locks.ts";
import { existingMonth, monthOf } from "../billing/month-rows.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { keepReply } from "../reply-rows.ts";
import { accounts, apiKeys, planPeriods } from "../schema.ts";
import { announceChange, overviewOf } from "./account-rows.ts";

/** Accounts and the months that they are in. */
export function createAccountCases(
  { transact, read }: Connection,
  processId: string,
): AccountPort & MonthPort {
  return { ...accountCases(transact, read, processId), ...monthCases(transact, read) };
}

type Transact = Connection["transact"];
type Read = Connection["read"];

/** Runs work that changes accounts: locked first, in the order of their ids, and announced with the commit. */
export function changing<T>(
  transact: Transact,
  accountIds: readonly string[],
  work: (orm: Orm) => Promise<T>,
): Promise<T> {
  return transact(async (orm) => {
    await lockAccounts(orm, accountIds);
    const result = await work(orm);
    await announceChanges(orm, accountIds);
    return result;
  });
}

/** Several in the order of their ids, so that nobody waits in a circle. */
async function announceChanges(orm: Orm, accountIds: readonly string[]): Promise<void> {
  for (const accountId of [...accountIds].sort()) await announceChange(orm, accountId);
}

function accountCases(transact: Transact, read: Read, processId: string): AccountPort {
  return {
    signUp: (account, key, planPeriod) =>
      transact(async (orm) => {
        const inserted = await orm
          .insert(accounts)
          .values(account)
          .onConflictDoNothing({ target: accounts.normalized })
          .returning({ accountId: accounts.accountId });
        if (inserted.length === 0) return false;
        await orm.insert(apiKeys).values(key);
        await orm.insert(planPeriods).values(planPeriod);
        return true;
      }),

    readOverview: (accountId) => read((orm) => overviewOf(orm, accountId)),

    findAccount: (accountId) =>
      read(async (orm) => {
        const [row] = await orm.select().from(accounts).where(eq(accounts.accountId, accountId));
        return row ?? null;
      }),

    changePlan: (accountId, decide, replyOf) =>
      changing(transact, [accountId], async (orm) => {
        const before = await existingMonth(orm, accountId);
        const { plan, pendingPlan, spendLimitMicroUsd, started } = decide(before);
        if (started !== null) {
          const running = before.planPeriods.at(-1);
          if (running !== undefined) await endPlanPeriod(orm, running.planPeriodId, started.startsAt);
          await orm.insert(planPeriods).values(started);
        }
        await orm
          .update(accounts)
          .set({ plan, pendingPlan, ...(spendLimitMicroUsd === undefined ? {} : { spendLimitMicroUsd }) })
          .where(eq(accounts.accountId, accountId));
        const after = await overviewOf(orm, accountId);
        await keepReply(orm, processId, replyOf(after));
        return after;
      }),
  };
}

function monthCases(transact: Transact, read: Read): MonthPort {
  return {
    readMonth: (accountId) => read((orm) => monthOf(orm, accountId)),

    enterMonth: (accountIds, monthsOf) =>
      transact(async (orm) => {
        await lockAccounts(orm, accountIds);
        const entered: string[] = [];
        for (const accountId of accountIds) {
          const { account, planPeriods: known } = await existingMonth(orm, accountId);
          let running = known.at(-1);
          if (running === undefined) continue;
          const started = monthsOf(account, running);
          for (const planPeriod of started) {
            await endPlanPeriod(orm, running.planPeriodId, running.periodEnd);
            const [inserted] = await orm.insert(planPeriods).values(planPeriod).returning();
            if (inserted === undefined) throw new Error("a plan period was not inserted");
            running = inserted;
          }
          // Another node was first: what it began it has announced.
          if (started.length === 0) continue;
          await orm
            .update(accounts)
            .set({ plan: running.plan, pendingPlan: null })
            .where(eq(accounts.accountId, accountId));
          entered.push(accountId);
        }
        await announceChanges(orm, entered);
      }),

    accountsToEnter: (now, limit) =>
      read(async (orm) => {
        const rows = await orm
          .select({ accountId: planPeriods.accountId })
          .from(planPeriods)
          .where(and(isNull(planPeriods.endsAt), lte(planPeriods.periodEnd, now)))
          .orderBy(asc(planPeriods.periodEnd), asc(planPeriods.planPeriodId))
          .limit(limit);
        return rows.map(({ accountId }) => accountId);
      }),
  };
}

export async function endPlanPeriod(orm: Orm, planPeriodId: number, endsAt: number): Promise<void> {
  await orm.update(planPeriods).set({ endsAt }).where(eq(planPeriods.planPeriodId, planPeriodId));
}
