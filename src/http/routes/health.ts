import { ApiError } from "../../contract/errors.ts";
import { getHealth, getLiveness, getReadiness } from "../../contract/specification/service/service.ts";
import type { CheckResult, HealthBody } from "../../contract/specification/service/service-replies.ts";
import type { Clock } from "../../platform/clock.ts";
import { ANSWER_VALID_MS, oncePerSecond } from "../once-per-second.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

/** Exercises one part. May throw or hang: the first reads as `fallback`, so does the second at its deadline. */
export type Check = {
  readonly run: (signal: AbortSignal) => CheckResult | Promise<CheckResult>;
  readonly fallback: "warn" | "fail";
};

export type HealthDependencies = {
  readonly routing: Routing;
  readonly clock: Clock;
  readonly version: string;
  readonly draining: () => boolean;
  readonly checks: { readonly [part: string]: Check };
};

const CHECK_TIMEOUT_MS = 2000;

/** /healthz says that the process lives; /health that each part does its work, anew at most once a second. */
export function healthRoutes(dependencies: HealthDependencies): readonly Route[] {
  const { routing, clock } = dependencies;
  const view = oncePerSecond(clock, () => examine(dependencies));
  return [
    routing.open(getLiveness, () => json({ status: "alive" })),
    routing.open(getHealth, async () => {
      const health = await view();
      if (health.status !== "failing") return json(health);
      return { ...json(health, 503), headers: { "Retry-After": `${ANSWER_VALID_MS / 1000}` } };
    }),
  ];
}

/** /readyz says whether balancers may send calls; `leaving` once the server is about to end. */
export function readinessRoute(routing: Routing, leaving: () => boolean): Route {
  return routing.open(getReadiness, () => {
    if (leaving()) throw new ApiError("not_found", "This server is about to end and takes no new calls.");
    return json({ status: "ready" });
  });
}

async function examine({ checks, clock, version, draining }: HealthDependencies): Promise<HealthBody> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([part, check]) => {
      const result = await attempt(check);
      return [part, { ...result, time: new Date(clock.now()).toISOString() }] as const;
    }),
  );
  const statuses = results.map(([, result]) => result.status);
  const failing = draining() || statuses.includes("fail");
  const degraded = statuses.includes("warn");
  return {
    status: failing ? "failing" : degraded ? "degraded" : "healthy",
    version,
    uptime_s: Math.floor(clock.monotonic() / 1000),
    checks: Object.fromEntries(results),
  };
}

async function attempt({ run, fallback }: Check): Promise<CheckResult> {
  const late: CheckResult = { status: fallback, observed: null, unit: null, output: "No answer in time." };
  const broken: CheckResult = { status: fallback, observed: null, unit: null, output: "The check failed." };
  const deadline = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const timeout = new Promise<CheckResult>((resolve) => {
    deadline.addEventListener("abort", () => resolve(late), { once: true });
  });
  const work = (async () => run(deadline))().catch(() => broken);
  return Promise.race([work, timeout]);
}
