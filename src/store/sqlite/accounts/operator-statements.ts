import { and, asc, desc, eq, gt, isNotNull, isNull, lt, ne, or, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import { type OperatorAct, type OperatorCommand, UNREPORTED } from "../../operator-port.ts";
import type { Orm } from "../connection/orm.ts";
import { operatorActs, operatorCommands } from "../schema.ts";

export type OperatorStatements = ReturnType<typeof createOperatorStatements>;

/** What operators ask of a running server, and the record of what they did. */
export function createOperatorStatements(orm: Orm) {
  const next = madeOnce(() =>
    orm
      .select()
      .from(operatorCommands)
      .where(
        and(
          gt(operatorCommands.commandId, sql.placeholder("behindId")),
          or(isNull(operatorCommands.outcome), eq(operatorCommands.outcome, UNREPORTED)),
        ),
      )
      .orderBy(asc(operatorCommands.commandId))
      .limit(1)
      .prepare(),
  ).get;

  return {
    /** Returns the number by which the outcome is found. */
    ask: (row: Pick<OperatorCommand, "askedAt" | "operator" | "command">): number =>
      orm.insert(operatorCommands).values(row).returning({ id: operatorCommands.commandId }).get().id,

    /** The oldest command behind another without an outcome, or with one that is unreported. */
    next: (behindId: number): OperatorCommand | undefined => next().get({ behindId }),

    answer: (commandId: number, outcome: string): void => {
      orm.update(operatorCommands).set({ outcome }).where(eq(operatorCommands.commandId, commandId)).run();
    },

    /** Gives an open command its outcome; false where it is not open. */
    end: (commandId: number, outcome: string): boolean =>
      orm
        .update(operatorCommands)
        .set({ outcome })
        .where(and(eq(operatorCommands.commandId, commandId), isNull(operatorCommands.outcome)))
        .returning({ id: operatorCommands.commandId })
        .all().length > 0,

    outcome: (commandId: number): string | null =>
      orm
        .select({ outcome: operatorCommands.outcome })
        .from(operatorCommands)
        .where(and(eq(operatorCommands.commandId, commandId), ne(operatorCommands.outcome, UNREPORTED)))
        .get()?.outcome ?? null,

    /** Takes a command back. False where it has an outcome already. */
    withdraw: (commandId: number): boolean =>
      orm
        .delete(operatorCommands)
        .where(and(eq(operatorCommands.commandId, commandId), isNull(operatorCommands.outcome)))
        .returning({ id: operatorCommands.commandId })
        .all().length > 0,

    /** Outcomes may hold personal data: they go once they are read. */
    remove: (commandId: number): void => {
      orm.delete(operatorCommands).where(eq(operatorCommands.commandId, commandId)).run();
    },

    /** Removes outcomes that nobody came to read. */
    removeAnswered: (askedBefore: number): void => {
      orm
        .delete(operatorCommands)
        .where(and(isNotNull(operatorCommands.outcome), lt(operatorCommands.askedAt, askedBefore)))
        .run();
    },

    record: (act: Omit<OperatorAct, "actId">): void => {
      orm.insert(operatorActs).values(act).run();
    },

    /** The newest acts first. */
    acts: (limit: number): OperatorAct[] =>
      orm.select().from(operatorActs).orderBy(desc(operatorActs.actId)).limit(limit).all(),
  };
}
