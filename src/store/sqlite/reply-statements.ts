import { and, asc, count, eq, inArray, isNotNull, lte, sql, sum } from "drizzle-orm";
import { madeOnce } from "../../platform/made-once.ts";
import type { ReplyRecord } from "../account-records.ts";
import type { Orm } from "./connection/orm.ts";
import { idempotentReplies } from "./schema.ts";

export type ReplyStatements = ReturnType<typeof createReplyStatements>;

/** Replies that are kept for a repeated Idempotency-Key. */
export function createReplyStatements(orm: Orm) {
  const thisKey = and(
    eq(idempotentReplies.accountId, sql.placeholder("accountId")),
    eq(idempotentReplies.idempotencyKey, sql.placeholder("idempotencyKey")),
  );
  const find = madeOnce(() => orm.select().from(idempotentReplies).where(thisKey).prepare()).get;
  const remove = madeOnce(() => orm.delete(idempotentReplies).where(thisKey).prepare()).get;

  return {
    find: (accountId: string, idempotencyKey: string): ReplyRecord | undefined =>
      find().get({ accountId, idempotencyKey }),

    /** Writes a reply in the place of an earlier one of its key. */
    put: (row: ReplyRecord): void => {
      remove().run({ accountId: row.accountId, idempotencyKey: row.idempotencyKey });
      orm.insert(idempotentReplies).values(row).run();
    },

    /** Removes up to `limit` replies that have expired. */
    removeExpired: (
      now: number,
      limit: number,
    ): Pick<ReplyRecord, "accountId" | "idempotencyKey" | "bodyBytes" | "bodyFile">[] => {
      const expired = orm
        .select({ rowId: sql<number>`rowid` })
        .from(idempotentReplies)
        .where(lte(idempotentReplies.expiresAt, now))
        .orderBy(asc(idempotentReplies.expiresAt))
        .limit(limit);
      return orm
        .delete(idempotentReplies)
        .where(inArray(sql`rowid`, expired))
        .returning({
          accountId: idempotentReplies.accountId,
          idempotencyKey: idempotentReplies.idempotencyKey,
          bodyBytes: idempotentReplies.bodyBytes,
          bodyFile: idempotentReplies.bodyFile,
        })
        .all();
    },

    bodyFiles: (): string[] =>
      orm
        .select({ bodyFile: idempotentReplies.bodyFile })
        .from(idempotentReplies)
        .where(isNotNull(idempotentReplies.bodyFile))
        .all()
        .flatMap((row) => (row.bodyFile === null ? [] : [row.bodyFile])),

    byAccount: (): { accountId: string; bytes: number; count: number }[] =>
      orm
        .select({
          accountId: idempotentReplies.accountId,
          bytes: sum(idempotentReplies.bodyBytes).mapWith(Number),
          count: count(),
        })
        .from(idempotentReplies)
        // The sign keeps the database from the order of the primary key, in which it would read each row.
        .groupBy(sql`+${idempotentReplies.accountId}`)
        .all(),
  };
}
