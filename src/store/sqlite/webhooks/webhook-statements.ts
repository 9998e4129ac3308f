import { and, asc, eq, gt, inArray, isNotNull, lte, notInArray, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { WebhookChange, WebhookRecord } from "../../webhook-port.ts";
import type { Orm } from "../connection/orm.ts";
import { createDueTime } from "../due-time.ts";
import { webhooks } from "../schema.ts";
import type { DeliveryStatements } from "./delivery-statements.ts";
import { createRemovedWebhooks } from "./removed-webhooks.ts";

type Deliveries = Pick<DeliveryStatements, "nextOf" | "removeOf">;
type WebhookRow = typeof webhooks.$inferSelect;

export type WebhookStatements = ReturnType<typeof createWebhookStatements>;

/** Webhooks, and when each has its next turn. */
export function createWebhookStatements(orm: Orm, deliveries: Deliveries) {
  const ofAccount = madeOnce(() =>
    orm
      .select()
      .from(webhooks)
      .where(eq(webhooks.accountId, sql.placeholder("accountId")))
      .orderBy(asc(webhooks.createdAt), asc(webhooks.webhookId))
      .prepare(),
  ).get;
  const find = madeOnce(() =>
    orm
      .select()
      .from(webhooks)
      .where(eq(webhooks.webhookId, sql.placeholder("webhookId")))
      .prepare(),
  ).get;
  const firstDue = madeOnce(() => {
    const exceptAccounts = sql`(SELECT value FROM json_each(${sql.placeholder("exceptAccounts")}))`;
    return orm
      .select()
      .from(webhooks)
      .where(
        and(
          isNotNull(webhooks.dueAt),
          lte(webhooks.dueAt, sql.placeholder("now")),
          notInArray(webhooks.accountId, exceptAccounts),
        ),
      )
      .orderBy(asc(webhooks.dueAt))
      .limit(1)
      .prepare();
  }).get;

  const nextDueAt = (): number | null =>
    orm
      .select({ dueAt: webhooks.dueAt })
      .from(webhooks)
      .where(isNotNull(webhooks.dueAt))
      .orderBy(asc(webhooks.dueAt))
      .limit(1)
      .get()?.dueAt ?? null;
  // Looked at twice a second by a server that has nothing else to do.
  const due = createDueTime(nextDueAt);

  /** Sets when a webhook has its next turn; `notBefore` puts it behind those that wait already. */
  function queue(webhookId: string, notBefore: number): void {
    const next = deliveries.nextOf(webhookId)?.nextAttemptAt ?? null;
    const dueAt = next === null ? null : Math.max(next, notBefore);
    orm.update(webhooks).set({ dueAt }).where(eq(webhooks.webhookId, webhookId)).run();
    due.changed();
  }

  const findRow = (webhookId: string): WebhookRecord | undefined => {
    const row = find().get({ webhookId });
    return row === undefined ? undefined : read(row);
  };
  const removed = createRemovedWebhooks(orm, deliveries, (webhookId) => findRow(webhookId) !== undefined);

  return {
    queue,

    /** Gives a webhook a turn at that time where it has none before; one that waits already keeps its place. */
    hasten: (webhookId: string, at: number): void => {
      orm
        .update(webhooks)
        .set({ dueAt: sql`min(coalesce(${webhooks.dueAt}, ${at}), ${at})` })
        .where(eq(webhooks.webhookId, webhookId))
        .run();
      due.changed();
    },

    /** Gives up to `limit` webhooks a turn at `now` that have none before `latest`; returns how many. */
    recall: (now: number, latest: number, limit: number): number => {
      const some = orm
        .select({ webhookId: webhooks.webhookId })
        .from(webhooks)
        .where(and(isNotNull(webhooks.dueAt), gt(webhooks.dueAt, latest)))
        .limit(limit);
      const recalled = orm
        .update(webhooks)
        .set({ dueAt: now })
        .where(inArray(webhooks.webhookId, some))
        .returning({ webhookId: webhooks.webhookId })
        .all();
      due.changed();
      return recalled.length;
    },

    insert: (webhook: WebhookRecord): void => {
      orm
        .insert(webhooks)
        .values({ ...webhook, ...written(webhook), dueAt: null })
        .run();
    },

    find: findRow,

    ofAccount: (accountId: string): WebhookRecord[] => ofAccount().all({ accountId }).map(read),

    change: (webhookId: string, change: WebhookChange): void => {
      const { events: _, formerSecrets: __, ...plain } = change;
      const values = { ...plain, ...written(change) };
      if (Object.keys(values).length === 0) return;
      orm.update(webhooks).set(values).where(eq(webhooks.webhookId, webhookId)).run();
    },

    /** Removes a webhook; its deliveries beyond the first are left to `removeLeft`. */
    remove: (webhookId: string): void => {
      orm.delete(webhooks).where(eq(webhooks.webhookId, webhookId)).run();
      removed.begin(webhookId);
    },

    removeLeft: removed.removeLeft,

    /** The webhook that waits longest for its turn. */
    firstDue: (now: number, exceptAccounts: readonly string[]): WebhookRecord | undefined => {
      const row = firstDue().get({ now, exceptAccounts: JSON.stringify(exceptAccounts) });
      return row === undefined ? undefined : read(row);
    },

    /** Whether no webhook has its turn. Not to be asked in a transaction. */
    isNoneDue: (now: number): boolean => due.isNone(now),

    nextDueAt,
  };
}

function read({ events, formerSecrets, dueAt: _, ...row }: WebhookRow): WebhookRecord {
  return {
    ...row,
    events: events === null ? null : JSON.parse(events),
    formerSecrets: JSON.parse(formerSecrets),
  };
}

function written<Given extends Pick<WebhookChange, "events" | "formerSecrets">>(given: Given) {
  const { events, formerSecrets } = given;
  return {
    ...(events === undefined ? {} : { events: events === null ? null : JSON.stringify(events) }),
    ...(formerSecrets === undefined ? {} : { formerSecrets: JSON.stringify(formerSecrets) }),
  } as { events: string | null; formerSecrets: string };
}
