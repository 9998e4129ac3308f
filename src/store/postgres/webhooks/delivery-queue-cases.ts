import { and, asc, eq, isNotNull, lte, notInArray, sql } from "drizzle-orm";
import { changeByAttempt } from "../../attempt-change.ts";
import type { DeliveryRecord, WebhookPort } from "../../webhook-port.ts";
import type { Connection } from "../connection/connection.ts";
import { arrayOf, builtOnce, listIn, type Orm } from "../connection/orm.ts";
import { hasEnded, SERVER_NOW } from "../connection/server-clock.ts";
import { webhookDeliveries as deliveries, webhooks } from "../schema.ts";
import { recallDeliveries } from "./recalled-deliveries.ts";
import {
  applyChange,
  DELIVERY_COLUMNS,
  findDelivery,
  lockWebhook,
  readWebhook,
  releaseDeliveries,
} from "./webhook-rows.ts";
import { giveUpPending, hasten, isPending, queueWebhook } from "./webhook-turns.ts";

/** Longer than an attempt may take: a process that did not end it by then is gone. */
const LEASE_MS = 30_000;

type DeliveryQueueCases = Pick<
  WebhookPort,
  "claimDelivery" | "recallDeliveries" | "nextDueAt" | "endAttempt" | "reapDeliveries"
>;

/** The queue of deliveries that all nodes send from. `processId` is of this process alone. */
export function deliveryQueueCases({ transact, read }: Connection, processId: string): DeliveryQueueCases {
  const isDue = (now: number, exceptAccounts: readonly string[]) =>
    and(
      isNotNull(webhooks.dueAt),
      lte(webhooks.dueAt, now),
      exceptAccounts.length === 0 ? undefined : notInArray(webhooks.accountId, [...exceptAccounts]),
    );
  const inTurn = (orm: Orm, now: number, exceptAccounts: readonly string[]) =>
    orm.select().from(webhooks).where(isDue(now, exceptAccounts)).orderBy(asc(webhooks.dueAt)).limit(1);

  /** Returns the delivery as it is claimed. */
  async function claim(orm: Orm, delivery: DeliveryRecord): Promise<DeliveryRecord> {
    const claims = delivery.claims + 1;
    const leaseUntil = sql`${SERVER_NOW} + ${LEASE_MS}::bigint`;
    await orm
      .update(deliveries)
      .set({ state: "sending", claims, owner: processId, leaseUntil })
      .where(eq(deliveries.deliveryId, delivery.deliveryId));
    return { ...delivery, claims };
  }

  return {
    claimDelivery: async (now, exceptAccounts) => {
      // Looked for every half second: a transaction is begun only where there is something to claim.
      const full = arrayOf(exceptAccounts);
      const due = await read((orm) => dueWebhook(orm).execute({ now, exceptAccounts: full }));
      if (due.length === 0) return null;
      return transact(async (orm) => {
        for (;;) {
          const turn = inTurn(orm, now, exceptAccounts);
          const [webhook] = await turn.for("no key update", { skipLocked: true });
          if (webhook === undefined) return null;
          const { webhookId } = webhook;
          const [delivery] = await orm
            .select(DELIVERY_COLUMNS)
            .from(deliveries)
            .where(and(eq(deliveries.webhookId, webhookId), isPending))
            .orderBy(asc(deliveries.nextAttemptAt))
            .limit(1);
          if (delivery !== undefined && delivery.url === null && webhook.disabledReason !== null) {
            await giveUpPending(orm, webhookId, now + 1);
            continue;
          }
          const isReady = delivery !== undefined && (delivery.nextAttemptAt ?? 0) <= now;
          const claimed = isReady ? await claim(orm, delivery) : null;
          // Its next turn comes behind the webhooks that wait already.
          await queueWebhook(orm, webhookId, now);
          if (claimed !== null) return { delivery: claimed, webhook: readWebhook(webhook) };
        }
      });
    },

    recallDeliveries: (now, latest, limit) => transact((orm) => recallDeliveries(orm, now, latest, limit)),

    nextDueAt: () =>
      read(async (orm) => {
        const [row] = await orm
          .select({ dueAt: webhooks.dueAt })
          .from(webhooks)
          .where(isNotNull(webhooks.dueAt))
          .orderBy(asc(webhooks.dueAt))
          .limit(1);
        return row?.dueAt ?? null;
      }),

    endAttempt: ({ deliveryId, claims }, at, outcome, end) =>
      transact(async (orm) => {
        const seen = await findDelivery(orm, deliveryId);
        const webhook = seen === undefined ? null : await lockWebhook(orm, seen.webhookId);
        // Another claim sends it by now, or has sent it: of another process, or of this one once its lease had ended.
        const isHeld = and(
          eq(deliveries.deliveryId, deliveryId),
          eq(deliveries.owner, processId),
          eq(deliveries.claims, claims),
          eq(deliveries.state, "sending"),
        );
        const [delivery] = await orm.select(DELIVERY_COLUMNS).from(deliveries).where(isHeld);
        if (delivery === undefined || webhook === null) return;
        const change = changeByAttempt(end, webhook);
        await applyChange(orm, webhook, change);
        const isDisabled = (change.disabledReason ?? webhook.disabledReason) !== null;
        const isGivenUp = end.state === "pending" && isDisabled && delivery.url === null;
        const last = isGivenUp ? ({ state: "failed", nextAttemptAt: null } as const) : end;
        const { state, nextAttemptAt } = last;
        await orm
          .update(deliveries)
          .set({
            ...outcome,
            attempts: delivery.attempts + 1,
            scheduled: delivery.scheduled + 1,
            lastAttemptAt: at,
            state,
            nextAttemptAt,
            owner: null,
            leaseUntil: null,
          })
          .where(isHeld);
        if (nextAttemptAt !== null) await hasten(orm, webhook.webhookId, nextAttemptAt);
      }),

    reapDeliveries: () => transact((orm) => releaseDeliveries(orm, hasEnded(deliveries.leaseUntil))),
  };
}

/** A webhook that is due, of no account that has its share. */
const dueWebhook = builtOnce((orm) =>
  orm
    .select({ webhookId: webhooks.webhookId })
    .from(webhooks)
    .where(
      and(
        isNotNull(webhooks.dueAt),
        lte(webhooks.dueAt, sql.placeholder("now")),
        sql`NOT ${webhooks.accountId} = ${listIn("exceptAccounts", "text")}`,
      ),
    )
    .limit(1)
    .prepare("due_webhook"),
);
