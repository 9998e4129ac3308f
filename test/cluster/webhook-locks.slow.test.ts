import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { SQL } from "bun";
import { ApiError } from "../../src/contract/errors.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { WEBHOOK_TARGETS } from "../../src/webhooks/webhook-url.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { NOON } from "../store/store-conformance.ts";
import { event, webhookRecord } from "../store/webhook-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const LOOK_EVERY_MS = 5;
const ERASED = { operator: "root", accountId: "acc_a", at: NOON, action: "erase", details: "{}" };
const MARK = { accountId: "acc_a", periodStart: 1, percent: 80, event: event("quota.80") } as const;

const WRITES: readonly (readonly [string, (store: SharedStore) => unknown])[] = [
  ["a test event", (store) => store.addDelivery(webhookRecord("wh_1"), event(), () => null)],
  [
    "an event of the account",
    (store) =>
      store.record({ sums: [], replies: [], chunks: [], quotaMarks: [MARK], keptAt: null }, "at_once"),
  ],
];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the locks of webhooks are not tested", () => {});
}

describe.if(isPostgresInstalled)("a webhook that another session holds", () => {
  let processes: TwoProcesses;
  let store: SharedStore;
  let sql: SQL;
  let holder: SQL;

  beforeAll(async () => {
    processes = await openTwoProcesses();
    ({ one: store, sql } = processes);
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    holder = new SQL(processes.url, { max: 1 });
  });
  afterEach(() => holder?.close({ timeout: 0 }));
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Runs work until it waits for what the holder has; then the holder goes on, and commits. */
  async function meanwhile<T>(work: () => T | Promise<T>, goesOn: () => Promise<unknown>): Promise<T> {
    const done = (async () => work())();
    for (let waiting = 0; waiting === 0; await Bun.sleep(LOOK_EVERY_MS)) {
      [{ waiting }] = await sql`SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted`;
    }
    try {
      await goesOn();
      await holder`COMMIT`;
    } finally {
      await done.catch(() => undefined);
    }
    return done;
  }

  const kept = () => sql`SELECT type FROM webhook_deliveries`;

  test.each(WRITES)("gets no delivery of %s once it is removed", async (_, write) => {
    await store.createWebhook(webhookRecord("wh_1"), 20, null);
    await holder`BEGIN`;
    await holder`SELECT FROM webhooks FOR UPDATE`;
    await meanwhile(
      () => write(store),
      async () => {
        await holder`DELETE FROM webhook_deliveries`;
        await holder`DELETE FROM webhooks`;
      },
    );
    expect(await kept()).toHaveLength(0);
  });

  test.each(WRITES)("gets no delivery of %s once it is disabled", async (_, write) => {
    await store.createWebhook(webhookRecord("wh_1"), 20, null);
    await holder`BEGIN`;
    await holder`UPDATE webhooks SET disabled_reason = 'by_caller'`;
    await meanwhile(
      () => write(store),
      async () => undefined,
    );
    expect(await kept()).toHaveLength(0);
  });

  test.each([
    ["not_found", "The account has no such webhook.", () => holder`DELETE FROM webhooks`],
    [
      "invalid_request",
      "The webhook is disabled; enable it first.",
      () => holder`UPDATE webhooks SET disabled_reason = 'by_caller'`,
    ],
  ] as const)("that changes under a test event is %s", async (code, said, goesOn) => {
    await store.createWebhook(webhookRecord("wh_1"), 20, null);
    const webhooks = createWebhooks({
      store,
      clock: { now: () => NOON, monotonic: () => performance.now() },
      randomBytes,
      rules: { ...WEBHOOK_TARGETS, allowPrivate: false },
      wake: () => {},
    });
    await holder`BEGIN`;
    await holder`SELECT FROM webhooks FOR UPDATE`;
    const sent = meanwhile(() => webhooks.test("acc_a", "wh_1", () => null), goesOn);
    await expect(sent).rejects.toThrow(new ApiError(code, said));
  });

  test.each([
    ["an event", WRITES[1]?.[1]],
    ["the erasure of the account", (one: SharedStore) => one.eraseAccount("acc_a", NOON, ERASED)],
    ["the return of deliveries", (one: SharedStore) => one.reapDeliveries()],
  ])("keeps %s from taking webhooks with higher ids before it", async (_, work) => {
    // The older one has the higher id.
    const older = webhookRecord("wh_2");
    const newer = webhookRecord("wh_1", { createdAt: NOON + 1 });
    for (const webhook of [older, newer]) {
      await store.createWebhook(webhook, 20, null);
      await store.addDelivery(webhook, event(), () => null);
      await store.claimDelivery(NOON, []);
    }
    await sql`UPDATE webhook_deliveries SET lease_until = 0`;
    await holder`BEGIN`;
    await holder`SELECT FROM webhooks WHERE webhook_id = 'wh_1' FOR UPDATE`;
    await meanwhile(
      () => work?.(store),
      () => holder`SELECT FROM webhooks WHERE webhook_id = 'wh_2' FOR UPDATE NOWAIT`,
    );
  });
});
