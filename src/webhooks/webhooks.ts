import { secondOf } from "../billing/period.ts";
import { cursorPage } from "../contract/cursor-page.ts";
import { ApiError } from "../contract/errors.ts";
import type {
  CreatedWebhookBody,
  DeliveryBody,
  DeliveryListBody,
  RotatedSecretBody,
  WebhookBody,
} from "../contract/specification/webhook-replies.ts";
import { OutgoingError } from "../net/failure.ts";
import { readTarget, type TargetRules } from "../net/target.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { ReplyOf } from "../store/account-port.ts";
import type { WebhookChange, WebhookPort, WebhookRecord } from "../store/webhook-port.ts";
import { KEPT_MS } from "./deliverer.ts";
import { newSecret, type RandomBytes } from "./signature.ts";
import { deliveryView, webhookView } from "./webhook-view.ts";

export type WebhookFields = {
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly description: string | null;
};

export type WebhookPatchFields = {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
};

/** What the owner of an account does with its webhooks. Throws ApiErrors: `not_found`, `invalid_request`. */
export type Webhooks = {
  readonly list: (accountId: string) => Answer<{ readonly data: readonly WebhookBody[] }>;
  readonly create: (
    accountId: string,
    fields: WebhookFields,
    replyOf: ReplyOf<CreatedWebhookBody>,
  ) => Answer<CreatedWebhookBody>;
  readonly change: (
    accountId: string,
    webhookId: string,
    fields: WebhookPatchFields,
    replyOf: ReplyOf<WebhookBody>,
  ) => Answer<WebhookBody>;
  readonly remove: (accountId: string, webhookId: string) => Answer<void>;
  readonly rotateSecret: (
    accountId: string,
    webhookId: string,
    overlapSeconds: number,
    replyOf: ReplyOf<RotatedSecretBody>,
  ) => Answer<RotatedSecretBody>;
  readonly test: (
    accountId: string,
    webhookId: string,
    replyOf: ReplyOf<DeliveryBody>,
  ) => Answer<DeliveryBody>;
  readonly deliveries: (
    accountId: string,
    webhookId: string,
    page: { readonly limit: number; readonly startingAfter: string | null },
  ) => Answer<DeliveryListBody>;
  /** Throws `invalid_request` unless an address may receive the events of one job: it must be allowed, and a secret must sign. */
  readonly requireJobUrl: (accountId: string, url: string) => Answer<void>;
  readonly replay: (
    accountId: string,
    webhookId: string,
    deliveryId: string,
    replyOf: ReplyOf<DeliveryBody>,
  ) => Answer<DeliveryBody>;
};

export type WebhooksDependencies<WebhookStore = WebhookPort> = {
  readonly store: WebhookStore;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly rules: TargetRules;
  /** Something is to be sent now. */
  readonly wake: () => void;
};

/** Only https, on its own port, to names; what a name resolves to is checked at each attempt. */
export const WEBHOOK_TARGETS = { ports: [443], allowLiterals: false, httpsOnly: true } as const;
const WEBHOOKS_MAX = 20;
const FORMER_SECRETS_MAX = 4;

export function createWebhooks(dependencies: WebhooksDependencies<AtOnce<WebhookPort>>): AtOnce<Webhooks>;
export function createWebhooks(dependencies: WebhooksDependencies): Webhooks;
export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { store, clock, randomBytes, rules, wake } = dependencies;

  const find = (accountId: string, webhookId: string): Answer<WebhookRecord> =>
    after(store.findWebhook(accountId, webhookId), requireFound);

  const findEnabled = (accountId: string, webhookId: string): Answer<WebhookRecord> =>
    after(find(accountId, webhookId), (webhook) => {
      if (webhook.disabledReason === null) return webhook;
      throw new ApiError("invalid_request", "The webhook is disabled; enable it first.");
    });

  function change<View>(
    accountId: string,
    webhookId: string,
    to: WebhookChange,
    viewOf: (after: WebhookRecord) => View,
    replyOf: ReplyOf<View>,
  ): Answer<View> {
    const changed = store.changeWebhook(accountId, webhookId, to, (record) => replyOf(viewOf(record)));
    return after(changed, (record) => viewOf(requireFound(record)));
  }

  return {
    list: (accountId) => after(store.webhooksOf(accountId), (all) => ({ data: all.map(webhookView) })),

    create(accountId, { url, events, description }, replyOf) {
      requireUrl("url", url, rules);
      return after(store.webhooksOf(accountId), ({ length }) => {
        if (length >= WEBHOOKS_MAX) {
          throw new ApiError("invalid_request", `An account has at most ${WEBHOOKS_MAX} webhooks.`);
        }
        const webhook: WebhookRecord = {
          webhookId: `wh_${Buffer.from(randomBytes(12)).toString("hex")}`,
          accountId,
          url,
          events,
          description,
          disabledReason: null,
          secret: newSecret(randomBytes),
          formerSecrets: [],
          createdAt: Math.floor(clock.now()),
          failingSince: null,
        };
        const created = { ...webhookView(webhook), secret: webhook.secret };
        return after(store.createWebhook(webhook, replyOf(created)), () => created);
      });
    },

    change: (accountId, webhookId, { url, events, enabled }, replyOf) =>
      after(find(accountId, webhookId), ({ disabledReason }) => {
        if (url !== undefined) requireUrl("url", url, rules);
        const to: WebhookChange = {
          ...(url === undefined ? {} : { url }),
          ...(events === undefined ? {} : { events }),
          ...(enabled === true ? { disabledReason: null, failingSince: null } : {}),
          ...(enabled === false ? { disabledReason: disabledReason ?? "by_caller" } : {}),
        };
        return change(accountId, webhookId, to, webhookView, replyOf);
      }),

    remove: (accountId, webhookId) =>
      after(store.removeWebhook(accountId, webhookId), (isRemoved) => {
        if (!isRemoved) throw notFound();
      }),

    rotateSecret: (accountId, webhookId, overlapSeconds, replyOf) =>
      after(find(accountId, webhookId), (before) => {
        const now = Math.floor(clock.now());
        const endsAt = now + overlapSeconds * 1000;
        const standing = before.formerSecrets.filter((former) => former.endsAt > now);
        const ended = { secret: before.secret, endsAt };
        const formerSecrets = overlapSeconds === 0 ? standing : [ended, ...standing];
        if (formerSecrets.length > FORMER_SECRETS_MAX) {
          throw new ApiError("invalid_request", `At most ${FORMER_SECRETS_MAX} old secrets sign at a time.`);
        }
        const secret = newSecret(randomBytes);
        const view = () => ({ secret, old_secret_expires_at: secondOf(endsAt) });
        return change(accountId, webhookId, { secret, formerSecrets }, view, replyOf);
      }),

    test: (accountId, webhookId, replyOf) =>
      after(findEnabled(accountId, webhookId), (webhook) => {
        const at = Math.floor(clock.now());
        const event = { type: "webhook.test", at, data: { webhook_id: webhookId } };
        const added = store.addDelivery(webhook, event, (delivery) => replyOf(deliveryView(delivery)));
        return after(added, (delivery) => {
          wake();
          return deliveryView(delivery);
        });
      }),

    deliveries: (accountId, webhookId, { limit, startingAfter }) =>
      after(find(accountId, webhookId), () => {
        const since = Math.floor(clock.now()) - KEPT_MS;
        const page = { webhookId, afterDeliveryId: startingAfter, since, limit: limit + 1 };
        return after(store.deliveryPage(page), (found) => {
          if (found === null) {
            throw new ApiError("invalid_request", "starting_after must be a delivery of the webhook.");
          }
          return cursorPage(found, limit, { view: deliveryView, idOf: ({ deliveryId }) => deliveryId });
        });
      }),

    requireJobUrl(accountId, url) {
      requireUrl("webhook_url", url, rules);
      return after(store.webhooksOf(accountId), ({ length }) => {
        if (length > 0) return;
        throw new ApiError(
          "invalid_request",
          "webhook_url is signed with the secret of the account's first webhook; create one first.",
        );
      });
    },

    replay: (accountId, webhookId, deliveryId, replyOf) =>
      after(findEnabled(accountId, webhookId), () => {
        const now = Math.floor(clock.now());
        const put = store.replayDelivery(webhookId, deliveryId, now, (one) => replyOf(deliveryView(one)));
        return after(put, (delivery) => {
          if (delivery === null) throw new ApiError("not_found", "The webhook has no such delivery.");
          wake();
          return deliveryView(delivery);
        });
      }),
  };
}

function requireFound(webhook: WebhookRecord | null): WebhookRecord {
  if (webhook === null) throw notFound();
  return webhook;
}

function notFound(): ApiError {
  return new ApiError("not_found", "The account has no such webhook.");
}

function requireUrl(field: string, url: string, rules: TargetRules): void {
  try {
    readTarget(url, rules);
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    throw new ApiError(
      "invalid_request",
      `${field} must be an https address with a public name and no port: ${error.message}.`,
    );
  }
}
