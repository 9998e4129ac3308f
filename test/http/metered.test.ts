import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Server } from "bun";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import { createBillingClock } from "../../src/billing/billing-clock.ts";
import { createIdempotency } from "../../src/billing/idempotency.ts";
import { createMeter } from "../../src/billing/meter.ts";
import { DEFAULT_PLANS } from "../../src/billing/plans.ts";
import { createRateLimiter } from "../../src/billing/rate-limiter.ts";
import { rateLimited } from "../../src/billing/rate-refusal.ts";
import { operation } from "../../src/contract/specification/operation.ts";
import { createGuard } from "../../src/http/auth.ts";
import { createBodyReader } from "../../src/http/bodies/body-reader.ts";
import { createBoundary } from "../../src/http/boundary.ts";
import type { Handler } from "../../src/http/call.ts";
import { createIdempotent } from "../../src/http/idempotent.ts";
import { createMetered } from "../../src/http/metered.ts";
import { createRouting } from "../../src/http/routing.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../src/http/served-call.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/store/sqlite/open.ts";

const clock = systemClock;
const plans = DEFAULT_PLANS;

type Result = { reason: string | null };

const described = { path: "/check", tag: "Check", summary: "Check", access: "key", replies: {} } as const;
const checkGet = operation({ ...described, method: "GET", operationId: "check", query: Type.Object({}) });
const checkPost = operation({
  ...described,
  method: "POST",
  operationId: "checkPost",
  body: { "application/json": Type.Object({}) },
});

/** A metered route over real components whose check does as the test says. */
function openRoute(work: () => Result | Promise<Result>) {
  const store = openStore({ path: ":memory:", clock });
  const keyRing = createKeyRing({ store, plans, clock });
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  const randomBytes = systemRandomBytes;
  const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
  const limiter = createRateLimiter({ clock, entriesMax: 10 });
  const guard = createGuard({ keyRing, meter, accountLimiter: limiter, addressLimiter: limiter });
  const idempotent = createIdempotent(createIdempotency({ store, directory: null, clock }));
  const bugs: unknown[] = [];
  const silences: number[] = [];
  const server = { timeout: (_: Request, seconds: number) => silences.push(seconds) };
  const boundary = createBoundary({
    clock,
    newRequestId: () => "req_1",
    trustProxy: false,
    server: () => server as unknown as Server<unknown>,
    draining: () => false,
    readBearer: () => apiKey,
    setRateLimitHeaders: guard.setRateLimitHeaders,
    report: () => undefined,
    reportBug: (_, error) => bugs.push(error),
    isUnanswerable: () => false,
    refusalOf: () => undefined,
  });
  const routing = createRouting({ guard, publicRequestsPerSecond: 1 });
  const bodies = createBodyReader({ bytesMax: 1000, heldBytesMax: 1000 });
  const metered = createMetered({ routing, meter, idempotent, bodies });
  const [check] = metered({
    get: checkGet,
    post: checkPost,
    fromQuery: () => null,
    fromBody: () => null,
    units: () => 1,
    work,
    failed: () => ({ reason: "check_failed" }),
    isCharged: ({ reason }: Result) => reason !== "check_failed",
    write: JSON.stringify,
  });
  const handler = check?.handler ?? (() => Promise.reject(new Error("No route was registered")));
  const signup = { normalized: "a@b.co", name: null, company: null, country: null, referralCode: null };
  const { apiKey, accountId } = accounts.signup({ ...signup, email: "a@b.co", plan: "free" });
  const request = new Request("http://localhost/check");
  const answer = (handle: Handler) => boundary.route("/check", handle, { readsBearer: true })({ request });
  return {
    bugs,
    silences,
    call: () => answer(handler),
    /** A call that is let through here, and refused where all nodes count. */
    callAboveSharedRate: () =>
      answer(
        routing.keyed(checkGet, (_, { plan }) => {
          throw rateLimited(1, plan);
        }).handler,
      ),
    units: () => accounts.view(accountId).usage.units,
  };
}

test("a check is charged by the time it is answered", async () => {
  const route = openRoute(() => ({ reason: null }));
  const reply = await route.call();
  expect(await reply.json()).toEqual({ reason: null });
  expect(reply.headers.get("x-units-charged")).toBe("1");
  expect(route.units()).toBe(1);
});

test("a 429 for the rate over all nodes says that no call is left, whatever this node counts", async () => {
  const route = openRoute(() => ({ reason: null }));
  expect((await route.call()).headers.get("ratelimit")).toStartWith('"burst";r=19;t=1, "month"');
  const refused = await route.callAboveSharedRate();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  expect(refused.headers.get("ratelimit")).toStartWith('"burst";r=0;t=2, "month";r=999;');
});

test("a check that throws is answered as failed, logged as a bug, and costs nothing", async () => {
  const route = openRoute(() => {
    throw new TypeError("a bug");
  });
  const reply = await route.call();
  expect(reply.status).toBe(200);
  expect(await reply.json()).toEqual({ reason: "check_failed" });
  expect(reply.headers.get("x-units-charged")).toBe("0");
  expect(route.units()).toBe(0);
  expect(route.bugs).toHaveLength(1);
});

test("a connection may be idle for as long as the look-ups of its check take", async () => {
  const route = openRoute(async () => ({ reason: null }));
  expect((await route.call()).status).toBe(200);
  expect(route.silences).toEqual([0, IDLE_TIMEOUT_SECONDS]);
});
