import { and, asc, eq, gt, isNotNull, isNull, lt, ne, or } from "drizzle-orm";
import { type OperatorPort, UNREPORTED } from "../../operator-port.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { operatorCommands } from "../schema.ts";

type Commands = Pick<
  OperatorPort,
  | "askCommand"
  | "nextCommand"
  | "answerCommand"
  | "commandOutcome"
  | "withdrawCommand"
  | "removeCommand"
  | "removeAnsweredCommands"
>;

/** The commands that other processes ask for. */
export function commandCases({ transact, read }: Connection): Commands {
  return {
    askCommand: (command) =>
      transact(async (orm) => {
        const [row] = await orm
          .insert(operatorCommands)
          .values(command)
          .returning({ commandId: operatorCommands.commandId });
        if (row === undefined) throw new Error("a command was not inserted");
        return row.commandId;
      }),
    nextCommand: (behindId) =>
      read(async (orm) => {
        const [row] = await orm
          .select()
          .from(operatorCommands)
          .where(
            and(
              gt(operatorCommands.commandId, behindId),
              or(isNull(operatorCommands.outcome), eq(operatorCommands.outcome, UNREPORTED)),
            ),
          )
          .orderBy(asc(operatorCommands.commandId))
          .limit(1);
        return row ?? null;
      }),
    answerCommand: (commandId, outcome) =>
      transact(async (orm) => {
        await orm.update(operatorCommands).set({ outcome }).where(eq(operatorCommands.commandId, commandId));
      }),
    commandOutcome: (commandId) =>
      read(async (orm) => {
        const [row] = await orm
          .select({ outcome: operatorCommands.outcome })
          .from(operatorCommands)
          .where(and(eq(operatorCommands.commandId, commandId), ne(operatorCommands.outcome, UNREPORTED)));
        return row?.outcome ?? null;
      }),
    withdrawCommand: (commandId) =>
      transact(async (orm) => {
        const removed = await orm
          .delete(operatorCommands)
          .where(and(eq(operatorCommands.commandId, commandId), isNull(operatorCommands.outcome)))
          .returning({ commandId: operatorCommands.commandId });
        return removed.length > 0;
      }),
    removeCommand: (commandId) =>
      transact(async (orm) => {
        await orm.delete(operatorCommands).where(eq(operatorCommands.commandId, commandId));
      }),
    removeAnsweredCommands: (askedBefore) =>
      transact(async (orm) => {
        await orm
          .delete(operatorCommands)
          .where(and(isNotNull(operatorCommands.outcome), lt(operatorCommands.askedAt, askedBefore)));
      }),
  };
}

/** Gives an open command its outcome; false where it is not open. */
export async function endCommand(orm: Orm, commandId: number, outcome: string): Promise<boolean> {
  const answered = await orm
    .update(operatorCommands)
    .set({ outcome })
    .where(and(eq(operatorCommands.commandId, commandId), isNull(operatorCommands.outcome)))
    .returning({ commandId: operatorCommands.commandId });
  return answered.length > 0;
}
