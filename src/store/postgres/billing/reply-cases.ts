import { and, eq, inArray, isNotNull, lte, sql } from "drizzle-orm";
import type { ReplyRecord } from "../../account-records.ts";
import type { ReplyPort } from "../../billing-port.ts";
import { isStorageFailure } from "../../storage-error.ts";
import type { Connection } from "../connection/connection.ts";
import type { Orm } from "../connection/orm.ts";
import { idempotentReplies } from "../schema.ts";

/** Bytes of bodies that one transaction removes, but for one body that is larger. */
const REMOVED_BYTES_MAX = 32 * 1024 * 1024;

/** Replies that are kept with the charges of their calls. */
export function createReplyCases({ transact, read }: Connection): ReplyPort {
  return {
    findReply: (accountId, idempotencyKey) =>
      read(async (orm) => {
        const [row] = await orm
          .select()
          .from(idempotentReplies)
          .where(
            and(
              eq(idempotentReplies.accountId, accountId),
              eq(idempotentReplies.idempotencyKey, idempotencyKey),
            ),
          );
        return row ?? null;
      }),
    async removeExpiredReplies(now, limit) {
      const removed: RemovedReply[] = [];
      while (removed.length < limit) {
        try {
          const some = await transact((orm) => removeSome(orm, now, limit - removed.length));
          if (some.length === 0) break;
          removed.push(...some);
        } catch (error) {
          // What is gone has to be counted off.
          if (removed.length === 0 || !isStorageFailure(error)) throw error;
          break;
        }
      }
      return removed;
    },
    replyFiles: () =>
      read(async (orm) => {
        const rows = await orm
          .select({ bodyFile: idempotentReplies.bodyFile })
          .from(idempotentReplies)
          .where(isNotNull(idempotentReplies.bodyFile));
        return rows.flatMap(({ bodyFile }) => bodyFile ?? []);
      }),
    keptReplies: () =>
      read((orm) =>
        orm
          .select({
            accountId: idempotentReplies.accountId,
            bytes: sql`sum(${idempotentReplies.bodyBytes})`.mapWith(Number),
            count: sql`count(*)`.mapWith(Number),
          })
          .from(idempotentReplies)
          .groupBy(idempotentReplies.accountId),
      ),
  };
}

type RemovedReply = Pick<ReplyRecord, "accountId" | "idempotencyKey" | "bodyBytes" | "bodyFile">;

/** Removes the replies that expired first, up to `limit`, at least one and no more bytes than one transaction may. */
function removeSome(orm: Orm, now: number, limit: number): Promise<RemovedReply[]> {
  const { expiresAt, bodyBytes } = idempotentReplies;
  const expired = orm
    .select({ place: sql`ctid`.as("place"), expiresAt, bodyBytes })
    .from(idempotentReplies)
    .where(lte(expiresAt, now))
    .orderBy(expiresAt)
    .limit(limit)
    .for("update", { skipLocked: true });
  const summed = sql`SELECT place, sum(body_bytes) OVER (ORDER BY expires_at, place) - body_bytes AS bytes_before
    FROM (${expired}) AS expired`;
  const few = sql`(SELECT place FROM (${summed}) AS summed WHERE bytes_before < ${REMOVED_BYTES_MAX}::bigint)`;
  return orm.delete(idempotentReplies).where(inArray(sql`ctid`, few)).returning({
    accountId: idempotentReplies.accountId,
    idempotencyKey: idempotentReplies.idempotencyKey,
    bodyBytes,
    bodyFile: idempotentReplies.bodyFile,
  });
}
