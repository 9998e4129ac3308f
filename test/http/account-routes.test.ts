import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createKeyRing } from "../../src/accounts/key-ring.ts";
import type { RotatedKey } from "../../src/accounts/key-rotation.ts";
import { createBillingClock } from "../../src/billing/billing-clock.ts";
import { createIdempotency } from "../../src/billing/idempotency.ts";
import { createMeter } from "../../src/billing/meter.ts";
import { DEFAULT_PLANS } from "../../src/billing/plans.ts";
import { createRateLimiter } from "../../src/billing/rate-limiter.ts";
import { operation } from "../../src/contract/specification/operation.ts";
import { createAccountRouting } from "../../src/http/account-routes.ts";
import { createGuard } from "../../src/http/auth.ts";
import { createBodyReader } from "../../src/http/bodies/body-reader.ts";
import { createBoundary } from "../../src/http/boundary.ts";
import { createIdempotent } from "../../src/http/idempotent.ts";
import { createRouting } from "../../src/http/routing.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { keyOf } from "../support/json.ts";
import { refusalOf } from "../support/server.ts";

const clock = systemClock;
const plans = DEFAULT_PLANS;
const BODY_BYTES_MAX = 1_000;

const rotation = operation({
  ...{ path: "/rotate", tag: "Account", summary: "Rotate", access: "key", replies: {} },
  method: "POST",
  operationId: "rotate",
  scopes: ["account"],
  body: { "application/json": Type.Object({}) },
});

/** A rotation of the calling key over real components, which is held between its commit and its reply. */
function openRotation() {
  const store = openStore({ path: ":memory:", clock });
  const keyRing = createKeyRing({ store, plans, clock });
  const billingClock = createBillingClock({ store, clock });
  const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
  const randomBytes = systemRandomBytes;
  const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
  const limiter = createRateLimiter({ clock, entriesMax: 10 });
  const guard = createGuard({ keyRing, meter, accountLimiter: limiter, addressLimiter: limiter });
  const idempotent = createIdempotent(createIdempotency({ store, directory: null, clock }));
  const bodies = createBodyReader({ bytesMax: BODY_BYTES_MAX, heldBytesMax: BODY_BYTES_MAX });
  const routing = createRouting({ guard, publicRequestsPerSecond: 1 });
  const turns = createFairTurns(clock.monotonic);
  const { change } = createAccountRouting({ routing, guard, meter, idempotent, bodies, turns });
  const committed = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { handler } = change(rotation, {
    status: 201,
    async make({ accountId, keyId }, _, replyOf) {
      const rotated = accounts.rotateKey(accountId, { overlapSeconds: 0, keyId, isOfCall: true }, replyOf);
      committed.resolve();
      await held.promise;
      return rotated;
    },
    viewOf: ({ apiKey }: RotatedKey) => ({ api_key: apiKey }),
    secret: true,
  });
  const signup = { normalized: "a@b.co", name: null, company: null, country: null, referralCode: null };
  const { apiKey, accountId } = accounts.signup({ ...signup, email: "a@b.co", plan: "free" });
  const boundary = createBoundary({
    clock,
    newRequestId: () => "req_1",
    trustProxy: false,
    server: () => null,
    draining: () => false,
    readBearer: () => apiKey,
    setRateLimitHeaders: guard.setRateLimitHeaders,
    report: () => undefined,
    reportBug: (_, error) => {
      throw error;
    },
    isUnanswerable: () => false,
    refusalOf: () => undefined,
  });
  const answer = boundary.route("/rotate", handler, { readsBearer: true });
  const requestOf = (body: string, idempotencyKey: string) => {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
    return new Request("http://localhost/rotate", { method: "POST", body, headers });
  };
  return {
    committed: committed.promise,
    goOn: held.resolve,
    rotate: async (idempotencyKey: string) => answer({ request: requestOf("{}", idempotencyKey) }),
    /** Takes all that bodies of the account may hold in memory, until it is disposed of. */
    holdBodies: () => bodies.read(requestOf("x".repeat(BODY_BYTES_MAX), "k"), { tenant: accountId }),
  };
}

test("a rotation that ended its key and is not answered yet is 409 to its repetition, and then replayed", async () => {
  const { committed, goOn, rotate } = openRotation();
  const first = rotate("k");
  await committed;
  const early = await rotate("k");
  expect(early.headers.get("retry-after")).toBe("1");
  expect(await refusalOf(early)).toBe("409 idempotency_in_progress");
  expect(await refusalOf(await rotate("another"))).toBe("401 bad_key");
  goOn();
  const newKey = await keyOf(await first);
  const later = await rotate("k");
  expect([later.status, later.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  expect(await keyOf(later)).toBe(newKey);
});

test("a repetition that meets a full server is 503, and is replayed once there is room", async () => {
  const { goOn, rotate, holdBodies } = openRotation();
  goOn();
  const newKey = await keyOf(await rotate("k"));
  const held = await holdBodies();
  const early = await rotate("k");
  expect(early.headers.get("retry-after")).toBe("1");
  expect(await refusalOf(early)).toBe("503 overloaded");
  held[Symbol.dispose]();
  expect(await keyOf(await rotate("k"))).toBe(newKey);
});
