import { and, asc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { removesPauses } from "../../paused-deliveries.ts";
import type { DeliveryRecord, NewEvent, WebhookChange, WebhookRecord } from "../../webhook-port.ts";
import type { Orm } from "../connection/orm.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";
import { removePauses } from "./last-deliveries.ts";
import { giveUpPending, hasten } from "./webhook-turns.ts";

const { owner: _, leaseUntil: __, ...deliveryColumns } = getTableColumns(deliveries);

/** The columns of a delivery as the port has it. */
export const DELIVERY_COLUMNS = deliveryColumns;

type WebhookRow = typeof webhooks.$inferSelect;

export function readWebhook({ events, formerSecrets, dueAt: _due, ...row }: WebhookRow): WebhookRecord {
  return {
    ...row,
    events: events === null ? null : JSON.parse(events),
    formerSecrets: JSON.parse(formerSecrets),
  };
}

/** Returns a webhook that nobody else changes until the end of the transaction. Its deliveries are locked after it. */
export async function lockWebhook(orm: Orm, webhookId: string): Promise<WebhookRecord | null> {
  const [row] = await orm
    .select()
    .from(webhooks)
    .where(eq(webhooks.webhookId, webhookId))
    .for("no key update");
  return row === undefined ? null : readWebhook(row);
}

export async function webhooksOf(orm: Orm, accountId: string): Promise<WebhookRecord[]> {
  const rows = await orm
    .select()
    .from(webhooks)
    .where(eq(webhooks.accountId, accountId))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.webhookId));
  return rows.map(readWebhook);
}

/** Locks the webhooks of an account until the end of the transaction, and returns them as they are then, oldest first. */
async function lockWebhooksOf(orm: Orm, accountId: string): Promise<WebhookRecord[]> {
  const locked = await lockedInOrder(orm, eq(webhooks.accountId, accountId));
  return locked
    .map(readWebhook)
    .sort((one, other) => one.createdAt - other.createdAt || (one.webhookId < other.webhookId ? -1 : 1));
}

/** Several webhooks are locked in the order of their ids, so that nobody waits in a circle. */
export async function lockedInOrder(orm: Orm, which: SQL | undefined): Promise<WebhookRow[]> {
  return orm.select().from(webhooks).where(which).orderBy(asc(webhooks.webhookId)).for("no key update");
}

export async function insertWebhook(orm: Orm, webhook: WebhookRecord): Promise<void> {
  const { events, formerSecrets } = webhook;
  await orm.insert(webhooks).values({
    ...webhook,
    events: events === null ? null : JSON.stringify(events),
    formerSecrets: JSON.stringify(formerSecrets),
    dueAt: null,
  });
}

/** Changes a locked webhook; one that is disabled by it has no attempts left. */
export async function applyChange(orm: Orm, before: WebhookRecord, change: WebhookChange): Promise<void> {
  const { events, formerSecrets, ...plain } = change;
  const values = {
    ...plain,
    ...(events === undefined ? {} : { events: events === null ? null : JSON.stringify(events) }),
    ...(formerSecrets === undefined ? {} : { formerSecrets: JSON.stringify(formerSecrets) }),
  };
  const { webhookId } = before;
  if (Object.keys(values).length > 0) {
    await orm.update(webhooks).set(values).where(eq(webhooks.webhookId, webhookId));
  }
  if (before.disabledReason !== null || (change.disabledReason ?? null) === null) return;
  await giveUpPending(orm, webhookId, 0);
}

const isSending = sql`${deliveries.state} = 'sending'`;

/** An identity that is drawn inside the transaction which uses it. */
const RANDOM_HEX = sql`left(replace(gen_random_uuid()::text, '-', ''), 24)`;

/** Writes an event for one webhook, which is locked: nobody would send it, or remove it, once that is gone. */
export async function deliver(
  orm: Orm,
  { webhookId, accountId }: WebhookRecord,
  { type, at, data }: NewEvent,
  eventId: string,
  url: string | null,
): Promise<DeliveryRecord> {
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const [delivery] = await orm
    .insert(deliveries)
    .values({
      deliveryId: sql`'dlv_' || ${RANDOM_HEX}`,
      webhookId,
      accountId,
      url,
      eventId,
      type,
      body,
      createdAt: at,
      state: "pending",
      attempts: 0,
      scheduled: 0,
      latencyMs: 0,
      nextAttemptAt: at,
    })
    .returning(DELIVERY_COLUMNS);
  if (delivery === undefined) throw new Error("a delivery was not inserted");
  if (removesPauses(delivery)) await removePauses(orm, webhookId, delivery.deliveryId);
  await hasten(orm, webhookId, at);
  return delivery;
}

export async function newEventId(orm: Orm): Promise<string> {
  const [row] = await orm.execute<{ id: string }>(sql`SELECT 'evt_' || ${RANDOM_HEX} AS id`);
  if (row === undefined) throw new Error("the database drew no identity");
  return row.id;
}

/** Writes an event for every webhook of an account that is enabled and wants it. Part of a transaction. */
export async function emit(
  orm: Orm,
  accountId: string,
  event: NewEvent,
  oneOffUrl: string | null = null,
): Promise<void> {
  const all = await lockWebhooksOf(orm, accountId);
  const [first] = all;
  if (first === undefined) return;
  const eventId = await newEventId(orm);
  for (const webhook of all) {
    const isWanted = webhook.events === null || webhook.events.includes(event.type);
    if (webhook.disabledReason === null && isWanted) await deliver(orm, webhook, event, eventId, null);
  }
  if (oneOffUrl !== null) await deliver(orm, first, event, eventId, oneOffUrl);
}

/** Puts back deliveries that are being sent, and gives up those of disabled webhooks; returns how many there were. */
export async function releaseDeliveries(orm: Orm, which: SQL | undefined): Promise<number> {
  const sending = orm
    .select({ webhookId: deliveries.webhookId })
    .from(deliveries)
    .where(and(which, isSending));
  const locked = await lockedInOrder(orm, inArray(webhooks.webhookId, sending));
  let released = 0;
  for (const { webhookId, disabledReason } of locked) {
    const rows = await orm
      .update(deliveries)
      .set({ state: "pending", owner: null, leaseUntil: null })
      .where(and(eq(deliveries.webhookId, webhookId), which, isSending))
      .returning({ nextAttemptAt: deliveries.nextAttemptAt });
    released += rows.length;
    if (rows.length > 0) await hasten(orm, webhookId, Math.min(...rows.map((row) => row.nextAttemptAt ?? 0)));
    if (disabledReason !== null) await giveUpPending(orm, webhookId, 0);
  }
  return released;
}

/** Returns a delivery, or undefined. */
export async function findDelivery(orm: Orm, deliveryId: string): Promise<DeliveryRecord | undefined> {
  const [row] = await orm
    .select(DELIVERY_COLUMNS)
    .from(deliveries)
    .where(eq(deliveries.deliveryId, deliveryId));
  return row;
}
