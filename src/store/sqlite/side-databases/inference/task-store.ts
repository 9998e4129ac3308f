import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import type { TaskStore } from "../../../task-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { tasks } from "./inference-schema.ts";

/** All but the texts, which may be megabytes. */
const ROW = {
  taskId: tasks.taskId,
  state: tasks.state,
  createdAt: tasks.createdAt,
  endedAt: tasks.endedAt,
  expiresAt: tasks.expiresAt,
};

/** The statements of the tasks. */
export function createTaskStore(orm: Orm): TaskStore {
  return {
    begin: ({ taskId, ...row }, call) => {
      const values = { ...row, sealed: call, answer: null };
      orm
        .insert(tasks)
        .values({ taskId, ...values })
        .onConflictDoUpdate({ target: tasks.taskId, set: values, setWhere: eq(tasks.state, "failed") })
        .run();
    },

    find: (taskId) => orm.select(ROW).from(tasks).where(eq(tasks.taskId, taskId)).get(),

    callOf: (taskId) =>
      orm.select({ call: tasks.sealed }).from(tasks).where(eq(tasks.taskId, taskId)).get()?.call ?? null,

    answerLength: (taskId) =>
      orm
        .select({ length: sql<number | null>`octet_length(${tasks.answer})` })
        .from(tasks)
        .where(eq(tasks.taskId, taskId))
        .get()?.length ?? 0,

    answerOf: (taskId) =>
      orm.select({ answer: tasks.answer }).from(tasks).where(eq(tasks.taskId, taskId)).get()?.answer ?? null,

    end: ({ taskId, createdAt }, { state, answer, at, expiresAt }) => {
      const isRun = and(eq(tasks.taskId, taskId), eq(tasks.createdAt, createdAt));
      orm
        .update(tasks)
        .set({ state, answer, sealed: null, endedAt: at, expiresAt })
        .where(and(isRun, eq(tasks.state, "running")))
        .run();
    },

    running: () =>
      orm.select(ROW).from(tasks).where(eq(tasks.state, "running")).orderBy(asc(tasks.createdAt)).all(),

    removeExpired: (now, limit) => {
      const expired = orm
        .select({ taskId: tasks.taskId })
        .from(tasks)
        .where(lte(tasks.expiresAt, now))
        .limit(limit);
      return orm.delete(tasks).where(inArray(tasks.taskId, expired)).returning({ taskId: tasks.taskId }).all()
        .length;
    },
  };
}
