import type { ReplyRecord } from "../account-records.ts";
import type { Orm } from "./connection/orm.ts";
import { idempotentReplies } from "./schema.ts";

/** Writes a reply in the place of an earlier one of its key. */
export async function putReply(orm: Orm, reply: ReplyRecord | null): Promise<void> {
  if (reply === null) return;
  const { accountId: _, idempotencyKey: __, ...rest } = reply;
  await orm
    .insert(idempotentReplies)
    .values(reply)
    .onConflictDoUpdate({
      target: [idempotentReplies.accountId, idempotentReplies.idempotencyKey],
      set: rest,
    });
}
