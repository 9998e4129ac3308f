import { secondOf } from "../billing/period.ts";
import { ApiError } from "../contract/errors.ts";
import type {
  CreatedWebhookBody,
  RotatedSecretBody,
  WebhookBody,
} from "../contract/specification/webhooks/webhook-replies.ts";
import type { TargetRules } from "../net/target.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import { isTestTenant } from "../platform/test-tenant.ts";
import type { ReplyOf } from "../store/account-port.ts";
import type { WebhookChange, WebhookPort, WebhookRecord } from "../store/webhook-port.ts";
import { newSecret, type RandomBytes } from "./signature.ts";
import { createWebhookDeliveries, type WebhookDeliveries } from "./webhook-deliveries.ts";
import { requireUrl } from "./webhook-url.ts";
import { webhookView } from "./webhook-view.ts";

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

/** The operations of an owner on the webhooks of an account. They throw the ApiErrors `not_found`, `invalid_request`. */
export type Webhooks = WebhookDeliveries & {
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
  /**
   * Throws `invalid_request` unless the URL is allowed and the account has a webhook, whose secret signs the job's events;
   * always for test keys.
   */
  readonly requireJobUrl: (accountId: string, url: string) => Answer<void>;
};

export type WebhooksDependencies<WebhookStore = WebhookPort> = {
  readonly store: WebhookStore;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly rules: TargetRules;
  /** Called when a delivery is due now. */
  readonly wake: () => void;
};

const WEBHOOKS_MAX = 20;
const FORMER_SECRETS_MAX = 4;

export function createWebhooks(dependencies: WebhooksDependencies<AtOnce<WebhookPort>>): AtOnce<Webhooks>;
export function createWebhooks(dependencies: WebhooksDependencies): Webhooks;
export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { store, clock, randomBytes, rules, wake } = dependencies;

  const find = (accountId: string, webhookId: string): Answer<WebhookRecord> =>
    after(store.findWebhook(accountId, webhookId), requireFound);

  function change<View>(
    accountId: string,
    webhookId: string,
    changeOf: (before: WebhookRecord) => WebhookChange,
    viewOf: (after: WebhookRecord) => View,
    replyOf: ReplyOf<View>,
  ): Answer<View> {
    const changed = store.changeWebhook(accountId, webhookId, changeOf, (record) => replyOf(viewOf(record)));
    return after(changed, (record) => viewOf(requireFound(record)));
  }

  return {
    ...createWebhookDeliveries({ store, clock, wake, find }),

    list: (accountId) => after(store.webhooksOf(accountId), (all) => ({ data: all.map(webhookView) })),

    create(accountId, { url, events, description }, replyOf) {
      requireUrl("url", url, rules);
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
        failedAt: null,
        failingMs: 0,
      };
      const created = { ...webhookView(webhook), secret: webhook.secret };
      return after(store.createWebhook(webhook, WEBHOOKS_MAX, replyOf(created)), (isCreated) => {
        if (isCreated) return created;
        throw new ApiError("invalid_request", `An account has at most ${WEBHOOKS_MAX} webhooks.`);
      });
    },

    change: (accountId, webhookId, { url, events, enabled }, replyOf) => {
      if (url !== undefined) requireUrl("url", url, rules);
      const changeOf = ({ disabledReason, url: formerUrl }: WebhookRecord): WebhookChange => ({
        // Failures of the former address do not count for the new one.
        ...(url !== undefined && url !== formerUrl ? { url, failingSince: null } : {}),
        ...(events === undefined ? {} : { events }),
        ...(enabled === true ? { disabledReason: null, failingSince: null } : {}),
        ...(enabled === false ? { disabledReason: disabledReason ?? "by_caller" } : {}),
      });
      return change(accountId, webhookId, changeOf, webhookView, replyOf);
    },

    remove: (accountId, webhookId) =>
      after(store.removeWebhook(accountId, webhookId), (isRemoved) => {
        if (!isRemoved) throw notFound();
      }),

    rotateSecret: (accountId, webhookId, overlapSeconds, replyOf) => {
      const now = Math.floor(clock.now());
      const endsAt = now + overlapSeconds * 1000;
      const secret = newSecret(randomBytes);
      const changeOf = (before: WebhookRecord): WebhookChange => {
        const standing = before.formerSecrets.filter((former) => former.endsAt > now);
        const ended = { secret: before.secret, endsAt };
        const formerSecrets = overlapSeconds === 0 ? standing : [ended, ...standing];
        if (formerSecrets.length > FORMER_SECRETS_MAX) {
          throw new ApiError("invalid_request", `At most ${FORMER_SECRETS_MAX} old secrets sign at a time.`);
        }
        return { secret, formerSecrets };
      };
      const view = () => ({ secret, old_secret_expires_at: secondOf(endsAt) });
      return change(accountId, webhookId, changeOf, view, replyOf);
    },

    requireJobUrl(accountId, url) {
      if (isTestTenant(accountId)) {
        throw new ApiError("invalid_request", "webhook_url: jobs of a test key call no webhook.");
      }
      requireUrl("webhook_url", url, rules);
      return after(store.webhooksOf(accountId), ({ length }) => {
        if (length > 0) return;
        throw new ApiError(
          "invalid_request",
          "webhook_url is signed with the secret of the account's first webhook; create one first.",
        );
      });
    },
  };
}

function requireFound(webhook: WebhookRecord | null): WebhookRecord {
  if (webhook === null) throw notFound();
  return webhook;
}

function notFound(): ApiError {
  return new ApiError("not_found", "The account has no such webhook.");
}
