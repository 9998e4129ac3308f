import { and, asc, desc, eq, gte, isNotNull, lt, lte, ne, notInArray, or, sql } from "drizzle-orm";
import { madeOnce } from "../../platform/made-once.ts";
import type {
  AttemptEnd,
  AttemptOutcome,
  DeliveryPage,
  DeliveryRecord,
  WebhookChange,
  WebhookRecord,
} from "../webhook-port.ts";
import type { Orm } from "./orm.ts";
import { webhookDeliveries as deliveries, webhooks } from "./schema.ts";

type WebhookRow = typeof webhooks.$inferSelect;

export type NewDelivery = Pick<
  DeliveryRecord,
  "webhookId" | "accountId" | "url" | "eventId" | "type" | "body" | "createdAt"
>;

/** Webhooks and their deliveries. */
export function createWebhookStatements(orm: Orm) {
  // A parameter would keep the database from the indexes of these deliveries alone.
  const isPending = sql`${deliveries.state} = 'pending'`;
  const isSending = sql`${deliveries.state} = 'sending'`;
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
  const nextOf = madeOnce(() =>
    orm
      .select()
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, sql.placeholder("webhookId")), isPending))
      .orderBy(asc(deliveries.nextAttemptAt))
      .limit(1)
      .prepare(),
  ).get;
  // Looked at twice a second by a server that has nothing else to do.
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
  const findDelivery = madeOnce(() =>
    orm
      .select()
      .from(deliveries)
      .where(eq(deliveries.deliveryId, sql.placeholder("deliveryId")))
      .prepare(),
  ).get;

  /** Sets when a webhook has its next turn; `notBefore` puts it behind those that wait already. */
  function queue(webhookId: string, notBefore: number): void {
    const next = nextOf().get({ webhookId })?.nextAttemptAt ?? null;
    const dueAt = next === null ? null : Math.max(next, notBefore);
    orm.update(webhooks).set({ dueAt }).where(eq(webhooks.webhookId, webhookId)).run();
  }

  return {
    queue,

    /** Gives a webhook a turn at that time where it has none before; one that waits already keeps its place. */
    hasten: (webhookId: string, at: number): void => {
      orm
        .update(webhooks)
        .set({ dueAt: sql`min(coalesce(${webhooks.dueAt}, ${at}), ${at})` })
        .where(eq(webhooks.webhookId, webhookId))
        .run();
    },

    insert: (webhook: WebhookRecord): void => {
      orm
        .insert(webhooks)
        .values({ ...webhook, ...written(webhook), dueAt: null })
        .run();
    },

    find: (webhookId: string): WebhookRecord | undefined => {
      const row = find().get({ webhookId });
      return row === undefined ? undefined : read(row);
    },

    ofAccount: (accountId: string): WebhookRecord[] => ofAccount().all({ accountId }).map(read),

    change: (webhookId: string, change: WebhookChange): void => {
      const { events: _, formerSecrets: __, ...plain } = change;
      const values = { ...plain, ...written(change) };
      if (Object.keys(values).length === 0) return;
      orm.update(webhooks).set(values).where(eq(webhooks.webhookId, webhookId)).run();
    },

    remove: (webhookId: string): void => {
      orm.delete(deliveries).where(eq(deliveries.webhookId, webhookId)).run();
      orm.delete(webhooks).where(eq(webhooks.webhookId, webhookId)).run();
    },

    newEventId: (): string => `evt_${randomHex(orm)}`,

    addDelivery: (delivery: NewDelivery): DeliveryRecord => {
      const nothing = { status: null, error: null, latencyMs: 0, answer: null };
      const row: DeliveryRecord = {
        ...delivery,
        ...nothing,
        deliveryId: `dlv_${randomHex(orm)}`,
        state: "pending",
        attempts: 0,
        scheduled: 0,
        lastAttemptAt: null,
        nextAttemptAt: delivery.createdAt,
      };
      orm.insert(deliveries).values(row).run();
      return row;
    },

    findDelivery: (deliveryId: string): DeliveryRecord | undefined => findDelivery().get({ deliveryId }),

    page: ({ webhookId, since, limit }: DeliveryPage, after: DeliveryRecord | undefined): DeliveryRecord[] =>
      orm
        .select()
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, webhookId),
            gte(deliveries.createdAt, since),
            after === undefined
              ? undefined
              : or(
                  lt(deliveries.createdAt, after.createdAt),
                  and(eq(deliveries.createdAt, after.createdAt), lt(deliveries.deliveryId, after.deliveryId)),
                ),
          ),
        )
        .orderBy(desc(deliveries.createdAt), desc(deliveries.deliveryId))
        .limit(limit)
        .all(),

    replay: (deliveryId: string, at: number): void => {
      orm
        .update(deliveries)
        .set({ state: "pending", scheduled: 0, nextAttemptAt: at })
        .where(and(eq(deliveries.deliveryId, deliveryId), ne(deliveries.state, "sending")))
        .run();
    },

    /** The webhook that waits longest for its turn. */
    firstDue: (now: number, exceptAccounts: readonly string[]): WebhookRecord | undefined => {
      const row = firstDue().get({ now, exceptAccounts: JSON.stringify(exceptAccounts) });
      return row === undefined ? undefined : read(row);
    },

    nextDueAt: (): number | null =>
      orm
        .select({ dueAt: webhooks.dueAt })
        .from(webhooks)
        .where(isNotNull(webhooks.dueAt))
        .orderBy(asc(webhooks.dueAt))
        .limit(1)
        .get()?.dueAt ?? null,

    nextOf: (webhookId: string): DeliveryRecord | undefined => nextOf().get({ webhookId }),

    claim: (deliveryId: string): void => {
      orm.update(deliveries).set({ state: "sending" }).where(eq(deliveries.deliveryId, deliveryId)).run();
    },

    end: (delivery: DeliveryRecord, at: number, outcome: AttemptOutcome, end: AttemptEnd): void => {
      const { state, nextAttemptAt } = end;
      const { attempts, scheduled, deliveryId } = delivery;
      const counted = { attempts: attempts + 1, scheduled: scheduled + 1, lastAttemptAt: at };
      orm
        .update(deliveries)
        .set({ ...outcome, ...counted, state, nextAttemptAt })
        .where(eq(deliveries.deliveryId, deliveryId))
        .run();
    },

    /** Gives up what is pending for a webhook's own address. */
    giveUp: (webhookId: string): void => {
      orm
        .update(deliveries)
        .set({ state: "failed", nextAttemptAt: null, error: "webhook_disabled" })
        .where(and(eq(deliveries.webhookId, webhookId), isPending, sql`${deliveries.url} is null`))
        .run();
    },

    sending: (): DeliveryRecord[] => orm.select().from(deliveries).where(isSending).all(),

    release: (deliveryId: string): void => {
      orm.update(deliveries).set({ state: "pending" }).where(eq(deliveries.deliveryId, deliveryId)).run();
    },

    removeOld: (before: number, limit: number): number => {
      const old = orm
        .select({ deliveryId: deliveries.deliveryId })
        .from(deliveries)
        .where(and(lt(deliveries.createdAt, before), sql`${deliveries.nextAttemptAt} is null`))
        .orderBy(asc(deliveries.createdAt))
        .limit(limit)
        .all();
      for (const { deliveryId } of old) {
        orm.delete(deliveries).where(eq(deliveries.deliveryId, deliveryId)).run();
      }
      return old.length;
    },
  };
}

/** An identity that is drawn inside the transaction which uses it. */
function randomHex(orm: Orm): string {
  const id = orm.values<[string]>(sql`SELECT lower(hex(randomblob(12)))`)[0]?.[0];
  if (typeof id !== "string") throw new Error("the database drew no identity");
  return id;
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
