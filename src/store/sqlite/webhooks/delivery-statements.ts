import { and, asc, desc, eq, gt, gte, inArray, lt, ne, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import { isBehind } from "../../conditions.ts";
import type { AttemptEnd, AttemptOutcome, DeliveryPage, DeliveryRecord } from "../../webhook-port.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries } from "../schema.ts";
import { createLastDeliveries } from "./last-deliveries.ts";

export type NewDelivery = Pick<
  DeliveryRecord,
  "webhookId" | "accountId" | "url" | "eventId" | "type" | "body" | "createdAt"
>;

export type DeliveryStatements = ReturnType<typeof createDeliveryStatements>;

/** The deliveries of webhooks. */
export function createDeliveryStatements(orm: Orm) {
  // A parameter would keep the database from the indexes of these deliveries alone.
  const isPending = sql`${deliveries.state} = 'pending'`;
  const isSending = sql`${deliveries.state} = 'sending'`;
  const nextOf = madeOnce(() =>
    orm
      .select()
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, sql.placeholder("webhookId")), isPending))
      .orderBy(asc(deliveries.nextAttemptAt))
      .limit(1)
      .prepare(),
  ).get;
  const find = madeOnce(() =>
    orm
      .select()
      .from(deliveries)
      .where(eq(deliveries.deliveryId, sql.placeholder("deliveryId")))
      .prepare(),
  ).get;

  return {
    ...createLastDeliveries(orm),

    newEventId: (): string => `evt_${randomHex(orm)}`,

    insert: (delivery: NewDelivery): DeliveryRecord => {
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
        claims: 0,
      };
      orm.insert(deliveries).values(row).run();
      return row;
    },

    find: (deliveryId: string): DeliveryRecord | undefined => find().get({ deliveryId }),

    page: ({ webhookId, since, limit }: DeliveryPage, after: DeliveryRecord | undefined): DeliveryRecord[] =>
      orm
        .select()
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, webhookId),
            gte(deliveries.createdAt, since),
            isBehind(deliveries, "deliveryId", after),
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

    nextOf: (webhookId: string): DeliveryRecord | undefined => nextOf().get({ webhookId }),

    /** Returns the delivery as it is claimed. */
    claim: (delivery: DeliveryRecord): DeliveryRecord => {
      const claims = delivery.claims + 1;
      orm
        .update(deliveries)
        .set({ state: "sending", claims })
        .where(eq(deliveries.deliveryId, delivery.deliveryId))
        .run();
      return { ...delivery, claims };
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

    /** Gives up to `limit` deliveries up that are pending for a webhook's own address; returns how many. */
    giveUp: (webhookId: string, limit: number): number => {
      const isOwn = sql`${deliveries.url} is null`;
      const some = orm
        .select({ deliveryId: deliveries.deliveryId })
        .from(deliveries)
        .where(and(eq(deliveries.webhookId, webhookId), isPending, isOwn))
        .limit(limit);
      return orm
        .update(deliveries)
        .set({ state: "failed", nextAttemptAt: null, error: "webhook_disabled" })
        .where(inArray(deliveries.deliveryId, some))
        .returning({ deliveryId: deliveries.deliveryId })
        .all().length;
    },

    /** Makes up to `limit` deliveries due at `now` that are pending until after `latest`; returns the webhook of each. */
    recall: (now: number, latest: number, limit: number): string[] => {
      const some = orm
        .select({ deliveryId: deliveries.deliveryId })
        .from(deliveries)
        .where(and(isPending, gt(deliveries.nextAttemptAt, latest)))
        .limit(limit);
      return orm
        .update(deliveries)
        .set({ nextAttemptAt: now })
        .where(inArray(deliveries.deliveryId, some))
        .returning({ webhookId: deliveries.webhookId })
        .all()
        .map(({ webhookId }) => webhookId);
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

    /** Removes up to `limit` deliveries of a webhook; returns how many. */
    removeOf: (webhookId: string, limit: number): number => {
      const some = orm
        .select({ deliveryId: deliveries.deliveryId })
        .from(deliveries)
        .where(eq(deliveries.webhookId, webhookId))
        .limit(limit);
      return orm
        .delete(deliveries)
        .where(inArray(deliveries.deliveryId, some))
        .returning({ deliveryId: deliveries.deliveryId })
        .all().length;
    },
  };
}

/** An identity that is drawn inside the transaction which uses it. */
function randomHex(orm: Orm): string {
  const id = orm.values<[string]>(sql`SELECT lower(hex(randomblob(12)))`)[0]?.[0];
  if (typeof id !== "string") throw new Error("the database drew no identity");
  return id;
}
