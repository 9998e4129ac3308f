import { and, asc, eq, inArray, lte } from "drizzle-orm";
import type { TaskStore } from "../../../task-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { tasks } from "./inference-schema.ts";

/** The statements of the tasks. */
export function createTaskStore(orm: Orm): TaskStore {
  return {
    begin: ({ taskId, ...row }) => {
      orm
        .insert(tasks)
        .values({ taskId, ...row })
        .onConflictDoUpdate({ target: tasks.taskId, set: row, setWhere: eq(tasks.state, "failed") })
        .run();
    },

    find: (taskId) => orm.select().from(tasks).where(eq(tasks.taskId, taskId)).get(),

    end: (taskId, { state, answer, at, expiresAt }) => {
      orm
        .update(tasks)
        .set({ state, answer, sealed: null, endedAt: at, expiresAt })
        .where(and(eq(tasks.taskId, taskId), eq(tasks.state, "running")))
        .run();
    },

    running: (limit) =>
      orm
        .select()
        .from(tasks)
        .where(eq(tasks.state, "running"))
        .orderBy(asc(tasks.createdAt))
        .limit(limit)
        .all(),

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
