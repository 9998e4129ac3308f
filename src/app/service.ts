import { version } from "../../package.json" with { type: "json" };
import { createRateLimiter } from "../billing/rate-limiter.ts";
import { ApiError } from "../contract/errors.ts";
import type { ServiceFacts } from "../contract/specification/document/service-document.ts";
import type { Operation } from "../contract/specification/operation.ts";
import { createAddressGuard } from "../http/auth.ts";
import { type BodyReader, createBodyReader } from "../http/bodies/body-reader.ts";
import { READER_STALL_MS } from "../http/bodies/byte-stream.ts";
import { createBoundary } from "../http/boundary.ts";
import type { Call } from "../http/call.ts";
import { type MountedApp, mountRoutes } from "../http/mount.ts";
import { createPaid, type Paid } from "../http/paid.ts";
import { discoveryRoutes } from "../http/routes/discovery.ts";
import { docsRoutes } from "../http/routes/docs.ts";
import { type Check, healthRoutes } from "../http/routes/health.ts";
import { paymentRoutes } from "../http/routes/payments.ts";
import { signingKeyRoutes } from "../http/routes/signing-keys.ts";
import { createRouting, type Route, type Routing } from "../http/routing.ts";
import type { Payments } from "../payments/payments.ts";
import { createFairTurns } from "../platform/fair-turns.ts";
import { openSigningKey, type SigningKey } from "../signing/signing-key.ts";
import { holdDataDir } from "../store/sqlite/data-dir/data-dir.ts";
import { StorageError } from "../store/storage-error.ts";
import { logCall } from "./call-log.ts";
import { diskCheck } from "./disk-check.ts";
import { listen, stopListening } from "./listener.ts";
import { errorFacts } from "./log.ts";
import { openPaymentParts } from "./payments.ts";
import type { Platform } from "./platform.ts";
import type { RunningServer } from "./server.ts";
import type { ServiceConfig } from "./service-settings.ts";

/** What every paid service stands on. */
export type ServiceKernel = {
  readonly routing: Routing;
  /** Registers the operations that have a price. */
  readonly paid: Paid;
  readonly payments: Payments;
  readonly bodies: BodyReader;
  readonly signingKey: SigningKey;
  /** Returns the origin under which callers reach the service. */
  readonly originOf: (request: Request) => string;
};

/** What a service adds to it. */
export type ServiceContent = {
  readonly facts: ServiceFacts;
  readonly routes: readonly Route[];
  /** For /health, beside those of the kernel. */
  readonly checks: { readonly [name: string]: Check };
};

/**
 * Starts a paid service: its data directory, its payments and signing key, what `open` adds, and the routes of all.
 * Throws ConfigError or StoreOpenError with a sentence for the operator.
 */
export async function startService(
  config: ServiceConfig,
  platform: Platform,
  open: (kernel: ServiceKernel, stack: AsyncDisposableStack) => Promise<ServiceContent>,
): Promise<RunningServer> {
  const { clock, log } = platform;
  await using stack = new AsyncDisposableStack();
  stack.use(holdDataDir(config.dataDir));
  const signingKey = openSigningKey(config.dataDir);
  const turns = createFairTurns(clock.monotonic);
  const { payments, checks: paymentChecks } = openPaymentParts(config, { clock, log, turns }, stack);
  let draining = false;
  const boundary = createBoundary({
    clock,
    newRequestId: platform.newRequestId,
    trustProxy: config.trustProxy,
    server: () => app.server,
    draining: () => draining,
    readBearer: () => null,
    setRateLimitHeaders: () => {},
    report: (report) => {
      if (log.writes("info")) logCall(log, report);
    },
    reportBug: ({ id, route }, error) => log.error("bug", { request_id: id, route, ...errorFacts(error) }),
    refusalOf,
  });
  const addressLimiter = createRateLimiter({ clock });
  const guard = { admit: refuseKeys, admitPublic: createAddressGuard(addressLimiter) };
  const { publicRequestsPerSecond } = config;
  const routing = createRouting({ guard, publicRequestsPerSecond });
  const originOf = createOriginOf(config);
  const bodies = createBodyReader({ ...bodyBounds(config.bodyBytesMax), turns });
  const paid = createPaid({ routing, payments, bodies, originOf, readerStallMs: READER_STALL_MS });
  const content = await open({ routing, paid, payments, bodies, signingKey, originOf }, stack);
  const { facts } = content;
  const checks = {
    ...paymentChecks,
    ...content.checks,
    disk: diskCheck(config.dataDir, { holdsCharges: true }),
  };
  const described = [
    ...content.routes,
    ...paymentRoutes({ routing, payments }),
    ...healthRoutes({ routing, clock, version, draining: () => draining, checks }),
    ...signingKeyRoutes({ routing, publicKeys: () => signingKey.publicKeys }),
  ];
  const operations = operationsOf(described);
  const { title, guidance } = facts;
  const discovery = discoveryRoutes({ routing, originOf, title, guidance, operations });
  const all = [...described, ...discovery];
  const { publicUrl } = config;
  const writeDocument = async (written: readonly Operation[]): Promise<object> => {
    const { serviceDocument } = await import("../contract/specification/document/service-document.ts");
    return serviceDocument(facts, written, { version, publicUrl });
  };
  const docs = docsRoutes({ routing, version, described: all, writeDocument });
  const app: MountedApp = mountRoutes([...all, ...docs], boundary);
  listen(app, config);
  const opened = stack.move();
  return {
    url: app.server?.url.origin ?? "",
    async stop() {
      draining = true;
      const ended = await stopListening(app, config.shutdownGraceMs);
      await opened.disposeAsync();
      return ended;
    },
  };
}

/**
 * What bodies take together until their calls are answered: 64 MB or 8 of the largest, and a quarter of it for one client
 * address. Parsed, a body takes up to five times as much. A connection alone takes as much as those that are not counted.
 */
function bodyBounds(bytesMax: number) {
  const heldBytesMax = Math.max(8 * bytesMax, 67_108_864);
  return { bytesMax, heldBytesMax, heldByTenantBytesMax: heldBytesMax / 4, smallBytesMax: 16_384 };
}

function operationsOf(routes: readonly Route[]): readonly Operation[] {
  return routes.flatMap(({ operation }) => operation ?? []);
}

/** The scheme of a call is that of the proxy before the server, where that is to be trusted. */
function createOriginOf({ publicUrl, trustProxy }: ServiceConfig): (request: Request) => string {
  return ({ url, headers }) => {
    if (publicUrl !== null) return publicUrl;
    const forwarded = trustProxy ? headers.get("x-forwarded-proto") : null;
    const origin = URL.parse(url)?.origin ?? "";
    return forwarded?.trim() === "https" ? origin.replace(/^http:/, "https:") : origin;
  };
}

/** A paid service has no keys. */
function refuseKeys(call: Call): never {
  throw new Error(`${call.route} asks for a key`);
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof StorageError) return new ApiError("storage_unavailable", undefined, { cause: error });
  if (error instanceof Error && error.name === "AbortError") {
    return new ApiError("invalid_request", "The body was cut off.", { cause: error });
  }
  return undefined;
}
