import { type AnyElysia, Elysia } from "elysia";
import { version } from "../../package.json" with { type: "json" };
import { PoolFullError } from "../batch/semaphore.ts";
import { ApiError } from "../contract/errors.ts";
import { createGuard, type Guard } from "../http/auth.ts";
import { type Boundary, type BoundaryParts, type CallReport, createBoundary } from "../http/boundary.ts";
import { createIdempotent } from "../http/idempotent.ts";
import { createCharged } from "../http/metered.ts";
import { type BodyReader, createBodyReader, SMALL_BODY_BYTES_MAX } from "../http/request-body.ts";
import { accountRoutes } from "../http/routes/account.ts";
import { directoryRoutes } from "../http/routes/directory.ts";
import { docsRoutes } from "../http/routes/docs.ts";
import { emailRoutes } from "../http/routes/email.ts";
import { healthRoutes } from "../http/routes/health.ts";
import { identityRoutes } from "../http/routes/identity.ts";
import { createMetrics, type Metrics, metricsRoutes } from "../http/routes/metrics.ts";
import { phoneRoutes } from "../http/routes/phone.ts";
import { planRoutes } from "../http/routes/plans.ts";
import { signupRoutes } from "../http/routes/signup.ts";
import { unroutedHandler } from "../http/routes/unrouted.ts";
import { StorageError } from "../store/storage-error.ts";
import type { Parts } from "./components.ts";
import { checksOf, readingsOf } from "./health-probes.ts";
import { errorFacts, type Log } from "./log.ts";
import type { Surroundings } from "./platform.ts";
import type { Config } from "./settings.ts";

/**
 * Mounts the routes on the parts, behind the one boundary that everything enters and leaves by. Its type names the
 * routes and what they answer, which is what clients are typed by that are made from it.
 */
export function createApp(config: Config, surroundings: Surroundings, parts: Parts, draining: () => boolean) {
  const guard = createGuard(parts);
  const { bodyBytesMax, heldBodyBytesMax } = config.batch;
  const bodies = createBodyReader({ bytesMax: bodyBytesMax, heldBytesMax: heldBodyBytesMax });
  const metrics = createMetrics(readingsOf(parts, bodies));
  // Routes are made before the app that they belong to, and ask for it when they are called.
  const mounted: { app: AnyElysia } = { app: new Elysia() };
  const server = () => mounted.app.server;
  const boundary = openBoundary(config, surroundings, { guard, metrics, draining, server });
  const entrance = { boundary, guard, metrics, bodies, draining, app: () => mounted.app };
  const app = mountRoutes(config, surroundings, parts, entrance);
  mounted.app = app;
  const unrouted = boundary.route("unrouted", unroutedHandler(app));
  return app.onError(({ code, error, request }) => {
    const rethrow = () => {
      throw error;
    };
    const answer = code === "NOT_FOUND" ? unrouted : boundary.route("unrouted", rethrow);
    return answer({ request });
  });
}

export type App = ReturnType<typeof createApp>;

type Entrance = {
  readonly boundary: Boundary;
  readonly guard: Guard;
  readonly metrics: Metrics;
  readonly bodies: BodyReader;
  readonly draining: () => boolean;
  readonly app: () => AnyElysia;
};

function openBoundary(
  config: Config,
  { clock, log, newRequestId }: Surroundings,
  {
    guard,
    metrics,
    draining,
    server,
  }: Omit<Entrance, "boundary" | "bodies" | "app"> & Pick<BoundaryParts, "server">,
): Boundary {
  return createBoundary({
    clock,
    newRequestId,
    trustProxy: config.trustProxy,
    server,
    draining,
    stamp: guard.stamp,
    report(report) {
      metrics.observe(report);
      if (log.writes("info")) logCall(log, report);
    },
    reportBug: ({ id, route }, error) => log.error("bug", { request_id: id, route, ...errorFacts(error) }),
    refusalOf,
  });
}

function mountRoutes(config: Config, surroundings: Surroundings, parts: Parts, entrance: Entrance) {
  const { boundary, guard, metrics, bodies, draining, app } = entrance;
  const checks = checksOf(config, surroundings.clock, parts);
  const { meter, accounts, checkEmail, writeEmail, directory, plans, runner } = parts;
  const bodyBytesMax = SMALL_BODY_BYTES_MAX;
  const idempotent = createIdempotent(parts.idempotency);
  const charged = createCharged({ guard, meter, idempotent, bodyBytesMax });
  const publicRate = config.limits.publicRequestsPerSecond;
  const admitPublic = (call: Parameters<Guard["admitPublic"]>[0]) =>
    guard.admitPublic(call, "public", { requestsPerSecond: publicRate, burst: publicRate * 2 });
  const batch = {
    guard,
    meter,
    runner,
    idempotent,
    bodies,
    readerStallMs: config.batch.readerStallMs,
  };
  const { signupsPerMinute } = config.limits;
  const { clock } = surroundings;
  return new Elysia({ name: "assay", normalize: false, handler: { standardHostname: false } })
    .use(healthRoutes({ boundary, clock, version, draining, checks }))
    .use(planRoutes({ boundary, admit: admitPublic, plans }))
    .use(signupRoutes({ boundary, guard, accounts, checkEmail, bodyBytesMax, signupsPerMinute }))
    .use(accountRoutes({ boundary, guard, accounts, meter, idempotent, bodyBytesMax }))
    .use(emailRoutes({ boundary, charged, batch, writeEmail }))
    .use(identityRoutes({ boundary, charged, batch }))
    .use(phoneRoutes({ boundary, charged, batch }))
    .use(directoryRoutes({ boundary, admit: admitPublic, directory }))
    .use(docsRoutes({ boundary, admit: admitPublic, version, app }))
    .use(config.metrics ? metricsRoutes({ boundary, metrics }) : new Elysia());
}

/** The failures of parts that callers are told of. Everything else is a bug. */
function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof StorageError) return new ApiError("storage_unavailable", undefined, { cause: error });
  if (error instanceof PoolFullError) return new ApiError("overloaded", undefined, { cause: error });
  if (error instanceof Error && error.name === "AbortError") {
    return new ApiError("invalid_request", "The body was cut off.", { cause: error });
  }
  return undefined;
}

/** One line per call: what was asked of which route, by which account, and what became of it. */
function logCall(log: Log, { call, status, durationMs, outcome }: CallReport): void {
  log.info("call", {
    request_id: call.id,
    method: call.request.method,
    route: call.route,
    status,
    ms: Math.round(durationMs * 100) / 100,
    account: call.account?.accountId,
    units: call.units,
    outcome: outcome === "complete" ? undefined : outcome,
  });
}
