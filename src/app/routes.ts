import type { AnyElysia } from "elysia";
import { version } from "../../package.json" with { type: "json" };
import { QueueFullError } from "../batch/fair-queue.ts";
import { ApiError } from "../contract/errors.ts";
import { createAccountRouting } from "../http/account-routes.ts";
import { createGuard, type Guard } from "../http/auth.ts";
import { createBearerReader } from "../http/bearer.ts";
import { type BodyReader, createBodyReader } from "../http/bodies/body-reader.ts";
import { SMALL_BODY_BYTES_MAX } from "../http/bodies/request-body.ts";
import { createBoundary } from "../http/boundary.ts";
import { createIdempotent } from "../http/idempotent.ts";
import { createMetered } from "../http/metered.ts";
import { mountRoutes } from "../http/mount.ts";
import { accountRoutes } from "../http/routes/account.ts";
import { checkRoutes } from "../http/routes/check.ts";
import { consoleRoutes } from "../http/routes/console.ts";
import { docsRoutes } from "../http/routes/docs.ts";
import { emailRoutes } from "../http/routes/email.ts";
import { healthRoutes, readinessRoute } from "../http/routes/health.ts";
import { historyRoutes } from "../http/routes/history.ts";
import { keyRoutes } from "../http/routes/keys.ts";
import { emptyManifestRoute } from "../http/routes/manifest.ts";
import { createMetrics, type Metrics, metricsRoutes } from "../http/routes/metrics.ts";
import { planRoutes } from "../http/routes/plans.ts";
import { signingKeyRoutes } from "../http/routes/signing-keys.ts";
import { signupRoutes } from "../http/routes/signup.ts";
import { webhookRoutes } from "../http/routes/webhooks.ts";
import { createRouting, type Route, type Routing } from "../http/routing.ts";
import { createFairTurns, type FairTurns } from "../platform/fair-turns.ts";
import { AccountErasedError } from "../store/account-port.ts";
import { KeyLostError } from "../store/admit-port.ts";
import { StorageError, UnsettledError } from "../store/storage-error.ts";
import { logCall } from "./call-log.ts";
import type { Components } from "./components.ts";
import { checksOf } from "./health-probes.ts";
import { errorFacts } from "./log.ts";
import type { Platform } from "./platform.ts";
import { readingsOf } from "./readings.ts";
import {
  directoryRoutesOnDemand,
  identityRoutesOnDemand,
  jobRoutesOnDemand,
  phoneRoutesOnDemand,
} from "./routes-on-demand.ts";
import type { Config } from "./settings.ts";

/** How far the server has got with its end. */
export type Ending = {
  /** It still answers, and wants no more calls. */
  readonly leaving: () => boolean;
  readonly draining: () => boolean;
};

/** Makes the app: every route on the components, behind the one boundary that everything enters and leaves by. */
export function createApp(
  config: Config,
  platform: Platform,
  components: Components,
  { leaving, draining }: Ending,
): AnyElysia {
  const { bodyBytesMax, heldBodyBytesMax } = config.batch;
  const { clock, log, newRequestId, randomBytes } = platform;
  const turns = createFairTurns(clock.monotonic);
  const bodies = createBodyReader({ bytesMax: bodyBytesMax, heldBytesMax: heldBodyBytesMax, turns });
  const metrics = createMetrics(readingsOf(components, bodies, clock));
  const guard = createGuard(components);
  const boundary = createBoundary({
    clock,
    newRequestId,
    trustProxy: config.trustProxy,
    server: () => app.server,
    draining,
    leaving,
    readBearer: createBearerReader(Buffer.from(randomBytes(16)).toString("hex")),
    setRateLimitHeaders: guard.setRateLimitHeaders,
    report(report) {
      metrics.observe(report);
      if (log.writes("info")) logCall(log, report);
    },
    reportBug: ({ id, route }, error) => log.error("bug", { request_id: id, route, ...errorFacts(error) }),
    untilGroupMs: components.meter.untilGroupMs,
    isUnanswerable: (error) => error instanceof UnsettledError,
    refusalOf,
  });
  const routes = routesOf(config, platform, components, {
    guard,
    metrics,
    bodies,
    turns,
    leaving,
    draining,
  });
  const app: AnyElysia = mountRoutes(routes, boundary, config.corsOrigins);
  return app;
}

type Entrance = Ending & {
  readonly guard: Guard;
  readonly metrics: Metrics;
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
};

/**
 * Bodies of everything but batches and jobs. Those that are larger than any such body is in earnest are counted: an account
 * may have thousands of calls under way.
 */
const SMALL_BODIES = {
  bytesMax: SMALL_BODY_BYTES_MAX,
  heldBytesMax: 67_108_864,
  smallBytesMax: 4_096,
};

/** Every route, by resource. */
function routesOf(
  config: Config,
  { clock }: Platform,
  components: Components,
  { guard, metrics, bodies, turns, leaving, draining }: Entrance,
): readonly Route[] {
  const { meter, accounts, checkEmail, writeEmail, directory, plans, runner } = components;
  const { publicRequestsPerSecond, signupsPerMinute } = config.limits;
  const smallBodies = createBodyReader(SMALL_BODIES);
  const idempotent = createIdempotent(components.idempotency);
  const routing = createRouting({ guard, publicRequestsPerSecond });
  const accountRouting = createAccountRouting({
    routing,
    guard,
    meter,
    idempotent,
    bodies: smallBodies,
    turns,
  });
  const metered = createMetered({ routing, meter, idempotent, bodies: smallBodies });
  const batch = { meter, runner, idempotent, bodies, readerStallMs: config.batch.readerStallMs };
  const checks = checksOf(config, clock, components);
  const { queues } = components;
  const described = [
    ...healthRoutes({ routing, clock, version, draining, checks }),
    readinessRoute(routing, leaving),
    ...planRoutes({ routing, plans }),
    ...signupRoutes({ routing, accounts, checkEmail, bodies: smallBodies, turns, signupsPerMinute }),
    ...keyRoutes({ accountRouting, accounts, keys: components.keys }),
    ...accountRoutes({ accountRouting, accounts }),
    ...emailRoutes({ routing, metered, batch, writeEmail }),
    ...identityRoutesOnDemand({ routing, metered, batch }),
    ...phoneRoutesOnDemand({ routing, metered, batch }),
    ...webhookRoutes({ accountRouting, webhooks: queues.webhooks }),
    ...jobRoutesOnDemand({
      routing,
      guard,
      jobs: queues.jobs,
      uploads: queues.uploads,
      results: queues.jobResults,
      meter,
      idempotent,
      clock,
      readerStallMs: config.batch.readerStallMs,
      draining,
      requireWebhookUrl: queues.webhooks.requireJobUrl,
      bodies: smallBodies,
      turns,
    }),
    ...directoryRoutesOnDemand({ routing, directory, readerStallMs: config.batch.readerStallMs }),
    ...historyRoutes({ routing, directory, clock, probes: components.judging.probes }),
    ...checkRoutes({ routing, directory, check: components.judging.check }),
    ...signingKeyRoutes({ routing, publicKeys: components.judging.publicKeys }),
    ...metricsRoutes({ routing, metrics, clock, settings: config.metrics }),
  ];
  return [...described, ...pagesOf(config, routing, described)];
}

/** The pages of the server, which are no part of its specification. */
function pagesOf(config: Config, routing: Routing, described: readonly Route[]): readonly Route[] {
  return [
    ...docsRoutes({ routing, version, described }),
    emptyManifestRoute(routing),
    ...(config.console ? consoleRoutes({ routing }) : []),
  ];
}

/** Returns the refusal that a known failure of a component becomes, or undefined for a bug. */
function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof StorageError) return new ApiError("storage_unavailable", undefined, { cause: error });
  // Its keys are refused as soon as this server knows of the erasure.
  if (error instanceof AccountErasedError) return new ApiError("bad_key", undefined, { cause: error });
  if (error instanceof KeyLostError) {
    return new ApiError("idempotency_in_progress", undefined, { cause: error });
  }
  if (error instanceof QueueFullError) return new ApiError("overloaded", undefined, { cause: error });
  if (error instanceof Error && error.name === "AbortError") {
    return new ApiError("invalid_request", "The body was cut off.", { cause: error });
  }
  return undefined;
}
