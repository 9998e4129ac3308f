import { sql } from "drizzle-orm";
import type { ReplyRecord } from "../account-records.ts";
import { holdClaim } from "./admission/claim-rows.ts";
import type { Orm } from "./connection/orm.ts";
import { idempotentReplies } from "./schema.ts";

/**
 * Writes the reply to a change in the transaction of the change. Throws a KeyLostError where the call no longer has its
 * Idempotency-Key: another may have made the change.
 */
export async function keepReply(orm: Orm, processId: string, reply: ReplyRecord | null): Promise<void> {
  if (reply === null) return;
  await holdClaim(orm, processId, reply);
  await putReply(orm, reply);
}

/** Writes a reply in the place of an earlier one of its key. */
export async function putReply(orm: Orm, reply: ReplyRecord | null): Promise<void> {
  if (reply === null) return;
  const { accountId: _, idempotencyKey: __, ...rest } = reply;
  await orm
    .insert(idempotentReplies)
    .values(reply)
    .onConflictDoUpdate({
      target: [idempotentReplies.accountId, idempotentReplies.idempotencyKey],
      // The body of a batch may be of many megabytes: it is sent once.
      set: { ...rest, body: sql`excluded.body` },
    });
}
