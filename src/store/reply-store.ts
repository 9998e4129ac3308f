import { and, asc, eq, inArray, isNotNull, lte, sql, sum } from "drizzle-orm";
import type { Orm } from "./orm.ts";
import { idempotentReplies } from "./schema.ts";

export type ReplyRow = typeof idempotentReplies.$inferSelect;

export type ReplyStore = ReturnType<typeof createReplyStore>;

/** Replies that are kept for a repeated Idempotency-Key. */
export function createReplyStore(orm: Orm) {
  const thisKey = and(
    eq(idempotentReplies.accountId, sql.placeholder("accountId")),
    eq(idempotentReplies.idempotencyKey, sql.placeholder("idempotencyKey")),
  );
  const find = orm.select().from(idempotentReplies).where(thisKey).prepare();

  return {
    find: (accountId: string, idempotencyKey: string): ReplyRow | undefined =>
      find.get({ accountId, idempotencyKey }),

    insert: (row: ReplyRow): void => {
      orm.insert(idempotentReplies).values(row).run();
    },

    remove: (accountId: string, idempotencyKey: string): void => {
      orm
        .delete(idempotentReplies)
        .where(
          and(
            eq(idempotentReplies.accountId, accountId),
            eq(idempotentReplies.idempotencyKey, idempotencyKey),
          ),
        )
        .run();
    },

    /** Removes up to `limit` replies that have expired; how many there were. */
    removeExpired: (now: number, limit: number): number => {
      const expired = orm
        .select({ rowId: sql<number>`rowid` })
        .from(idempotentReplies)
        .where(lte(idempotentReplies.expiresAt, now))
        .orderBy(asc(idempotentReplies.expiresAt))
        .limit(limit);
      return orm
        .delete(idempotentReplies)
        .where(inArray(sql`rowid`, expired))
        .returning({ status: idempotentReplies.status })
        .all().length;
    },

    bodyFiles: (): string[] =>
      orm
        .select({ bodyFile: idempotentReplies.bodyFile })
        .from(idempotentReplies)
        .where(isNotNull(idempotentReplies.bodyFile))
        .all()
        .flatMap((row) => (row.bodyFile === null ? [] : [row.bodyFile])),

    bodyBytes: (): number =>
      orm
        .select({ bytes: sum(idempotentReplies.bodyBytes).mapWith(Number) })
        .from(idempotentReplies)
        .get()?.bytes ?? 0,
  };
}
