import type { BillingClock } from "../billing/billing-clock.ts";
import type { Resolver } from "../dns/lookup.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import type { WebhookPort } from "../store/webhook-port.ts";
import { createDeliverer, DELIVERY_LIMITS } from "../webhooks/deliverer.ts";
import { WEBHOOK_TARGETS } from "../webhooks/webhook-url.ts";
import { createWebhooks } from "../webhooks/webhooks.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Config } from "./settings.ts";

const IN_FLIGHT_MAX = 32;
const OVERFLOW = 4;
const ACCOUNT_IN_FLIGHT_MAX = 4;
const REAP_MS = 5_000;

export type OpenWebhooksDependencies = {
  readonly store: WebhookPort;
  readonly isShared: boolean;
  readonly resolver: Resolver;
  /** No delivery is past its retention by a clock that is in doubt. */
  readonly billingClock: BillingClock;
};

/** Opens webhooks, and what delivers to them. */
export async function openWebhooks(
  { webhooks: settings }: Pick<Config, "webhooks">,
  { clock, log, random, randomBytes }: Pick<Platform, "clock" | "log" | "random" | "randomBytes">,
  { store, isShared, resolver, billingClock }: OpenWebhooksDependencies,
  stack: AsyncDisposableStack,
) {
  const rules = { ...WEBHOOK_TARGETS, allowPrivate: settings.allowPrivate };
  // The way out is read with the first delivery: most servers have no webhooks.
  const client = loadedOnce(async () => {
    const [{ createHttpClient }, { createAddressLookup }] = await Promise.all([
      import("../net/http-client.ts"),
      import("../net/address-lookup.ts"),
    ]);
    return createHttpClient(
      { lookUp: createAddressLookup(resolver), clock },
      { ...rules, redirectsMax: 0, userAgent: "assay-webhooks", limits: DELIVERY_LIMITS },
    );
  });
  const deliverer = stack.use(
    createDeliverer({
      store,
      client: { send: async (url, request) => (await client.get()).send(url, request) },
      clock,
      retentionClock: billingClock,
      random,
      report: (error) => log.error("a delivery to a webhook failed", errorFacts(error)),
      settings: {
        inFlightMax: IN_FLIGHT_MAX,
        overflow: OVERFLOW,
        accountInFlightMax: ACCOUNT_IN_FLIGHT_MAX,
        reapEveryMs: isShared ? REAP_MS : null,
      },
    }),
  );
  const webhooks = createWebhooks({ store, clock, randomBytes, rules, wake: () => void deliverer.pump() });
  await deliverer.start();
  return { webhooks, deliverer };
}
