import { desc, eq, sql } from "drizzle-orm";
import { type OperatorPort, requireOpen, UNREPORTED } from "../../operator-port.ts";
import { CLOCK_ROW, keepClock } from "../billing/clock-rows.ts";
import type { Connection } from "../connection/connection.ts";
import { builtOnce } from "../connection/orm.ts";
import { accounts, keptClock, operatorActs, planPeriods } from "../schema.ts";
import { changing } from "./account-cases.ts";
import { commandCases, endCommand } from "./command-cases.ts";
import { erasureCases } from "./erasure-cases.ts";
import { replaceKeys } from "./key-cases.ts";

/** What operators ask and do, and the kept clock. */
export function createOperatorCases(connection: Connection): OperatorPort {
  return {
    ...actCases(connection),
    ...erasureCases(connection),
    ...commandCases(connection),
    ...clockCases(connection),
  };
}

type Acts = Pick<
  OperatorPort,
  | "findAccountByMailbox"
  | "accountPage"
  | "suspendAccount"
  | "creditUnits"
  | "replaceKeys"
  | "recordAct"
  | "acts"
>;

function actCases({ transact, read }: Connection): Acts {
  return {
    findAccountByMailbox: (normalized) =>
      read(async (orm) => {
        const [row] = await orm.select().from(accounts).where(eq(accounts.normalized, normalized));
        return row ?? null;
      }),
    accountPage: (afterId, limit) =>
      read((orm) =>
        orm
          .select()
          .from(accounts)
          .where(sql`${accounts.accountId} collate "C" > ${afterId}`)
          .orderBy(sql`${accounts.accountId} collate "C"`)
          .limit(limit),
      ),
    suspendAccount: (accountId, suspendedAt, act, given) =>
      changing(transact, [accountId], async (orm) => {
        await orm.update(accounts).set({ suspendedAt }).where(eq(accounts.accountId, accountId));
        await orm.insert(operatorActs).values(act);
        if (given !== undefined) requireOpen(await endCommand(orm, given.commandId, given.outcome));
      }),
    creditUnits: (planPeriodId, units, act, commandId) =>
      transact(async (orm) => {
        const [row] = await orm
          .select({ accountId: planPeriods.accountId })
          .from(planPeriods)
          .where(eq(planPeriods.planPeriodId, planPeriodId));
        if (row === undefined) throw new Error("there is no such plan period");
        await changing(
          (work) => work(orm),
          [row.accountId],
          async (inside) => {
            await inside
              .update(planPeriods)
              .set({ creditedUnits: sql`${planPeriods.creditedUnits} + ${units}::bigint` })
              .where(eq(planPeriods.planPeriodId, planPeriodId));
            await inside.insert(operatorActs).values(act);
            if (commandId !== undefined) requireOpen(await endCommand(inside, commandId, UNREPORTED));
          },
        );
      }),
    replaceKeys: (key, act, given) =>
      changing(transact, [key.accountId], async (orm) => {
        await replaceKeys(orm, key);
        await orm.insert(operatorActs).values(act);
        if (given !== undefined) requireOpen(await endCommand(orm, given.commandId, given.outcome));
      }),
    recordAct: (act) =>
      transact(async (orm) => {
        await orm.insert(operatorActs).values(act);
      }),
    acts: (limit) =>
      read((orm) => orm.select().from(operatorActs).orderBy(desc(operatorActs.actId)).limit(limit)),
  };
}

function clockCases({
  transact,
  read,
}: Connection): Pick<OperatorPort, "findKeptClock" | "keepClock" | "confirmClock"> {
  return {
    findKeptClock: () =>
      read(async (orm) => {
        const [row] = await clockRow(orm).execute();
        return row ?? null;
      }),
    keepClock: (keptAt) => transact((orm) => keepClock(orm, keptAt)),
    confirmClock: (confirmedAt) =>
      transact(async (orm) => {
        await orm.update(keptClock).set({ confirmedAt }).where(eq(keptClock.clockId, CLOCK_ROW));
      }),
  };
}

// Read every second.
const clockRow = builtOnce((orm) =>
  orm
    .select({ keptAt: keptClock.keptAt, confirmedAt: keptClock.confirmedAt })
    .from(keptClock)
    .where(eq(keptClock.clockId, CLOCK_ROW))
    .prepare("kept_clock"),
);
