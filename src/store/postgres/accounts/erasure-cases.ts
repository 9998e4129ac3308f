import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { workingKeys } from "../../conditions.ts";
import { ERASING, erasedMailbox, erasingMailbox } from "../../erased-mailbox.ts";
import { type OperatorPort, requireOpen } from "../../operator-port.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { STATEMENT_NOW } from "../connection/server-clock.ts";
import { deleteNext, deleteUnfinished } from "../jobs/job-rows.ts";
import { accounts, apiKeys, operatorActs, planPeriods } from "../schema.ts";
import { removeDeliveriesOf, removeWebhooks } from "../webhooks/removed-webhooks.ts";
import { changing, endPlanPeriod } from "./account-cases.ts";
import { removeKeysOf } from "./account-rows.ts";
import { endCommand } from "./command-cases.ts";

type Erasures = Pick<
  OperatorPort,
  "eraseAccount" | "accountsToClear" | "clearErasedKeys" | "clearErasedJobs"
>;

/** What an operator erases of an account: at once what others may read, in steps what may be a million rows. */
export function erasureCases({ transact, read }: Connection): Erasures {
  return {
    eraseAccount: async (accountId, erasedAt, act, given) => {
      const removedIds = await changing(transact, [accountId], async (orm) => {
        const [running] = await orm
          .select()
          .from(planPeriods)
          .where(and(eq(planPeriods.accountId, accountId), isNull(planPeriods.endsAt)));
        if (running !== undefined) {
          const endsAt = Math.max(running.startsAt, Math.min(erasedAt, running.periodEnd));
          await endPlanPeriod(orm, running.planPeriodId, endsAt);
        }
        // By the clock that all nodes share: one that is ahead leaves no key that works.
        const at = sql<number>`least(${erasedAt}::bigint, ${STATEMENT_NOW})`;
        for (const working of workingKeys(apiKeys, accountId, at)) await orm.delete(apiKeys).where(working);
        const webhookIds = await removeWebhooks(orm, accountId);
        await deleteUnfinished(orm, accountId, erasedAt);
        const nothing = { name: null, company: null, country: null, referralCode: null, pendingPlan: null };
        await orm
          .update(accounts)
          .set({ ...nothing, email: "", normalized: erasingMailbox(accountId), erasedAt })
          .where(eq(accounts.accountId, accountId));
        await orm.insert(operatorActs).values(act);
        if (given !== undefined) requireOpen(await endCommand(orm, given.commandId, given.outcome));
        return webhookIds;
      });
      await removeDeliveriesOf(transact, removedIds);
    },

    accountsToClear: () =>
      read(async (orm) => {
        const { accountId, erasedAt, normalized } = accounts;
        const isMarked = sql`${normalized} = ${ERASING}::text || ${accountId}`;
        const rows = await orm
          .select({ accountId })
          .from(accounts)
          .where(and(isNotNull(erasedAt), isMarked));
        return rows.map((row) => row.accountId);
      }),

    clearErasedKeys: (accountId, limit) =>
      transact(async (orm) =>
        (await erasingSince(orm, accountId)) === null ? 0 : removeKeysOf(orm, accountId, limit),
      ),

    clearErasedJobs: (accountId, after, limit) =>
      transact(async (orm) => {
        const erasedAt = await erasingSince(orm, accountId);
        if (erasedAt === null) return null;
        const last = await deleteNext(orm, { accountId, erasedAt }, after, limit);
        if (last === null)
          await orm
            .update(accounts)
            .set({ normalized: erasedMailbox(accountId) })
            .where(isErasing(accountId));
        return last;
      }),
  };
}

const isErasing = (accountId: string) =>
  and(eq(accounts.accountId, accountId), eq(accounts.normalized, erasingMailbox(accountId)));

/** Returns when an account was erased of which something is left to clear; else null. */
async function erasingSince(orm: Orm, accountId: string): Promise<number | null> {
  const [row] = await orm.select({ erasedAt: accounts.erasedAt }).from(accounts).where(isErasing(accountId));
  return row?.erasedAt ?? null;
}
