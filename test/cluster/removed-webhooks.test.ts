import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import type { SharedStore } from "../../src/store/port.ts";
import { removeOldDeliveries } from "../../src/webhooks/old-deliveries.ts";
import { NOON } from "../store/store-conformance.ts";
import { webhookRecord } from "../store/webhook-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const DEADLINE_MS = 1_000;
/** One in five takes the server a millisecond or two: all of them at once take longer than the deadline. */
const MANY = 5_000;
const SLOW = "IF hashtext(OLD.delivery_id) % 5 = 0 THEN PERFORM pg_sleep(0.001); END IF";
const ERASED = { operator: "root", accountId: "acc_a", at: NOON, action: "erase", details: "{}" };

const REMOVALS: readonly (readonly [string, (store: SharedStore) => unknown])[] = [
  ["its owner", (store) => store.removeWebhook("acc_a", "wh_1")],
  ["the erasure of its account", (store) => store.eraseAccount("acc_a", NOON, ERASED)],
];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so the removal of webhooks is not tested", () => {});
}

describe.if(isPostgresInstalled)("a webhook that is removed", () => {
  let processes: TwoProcesses;
  let store: SharedStore;
  let sql: SQL;

  beforeAll(async () => {
    processes = await openTwoProcesses({ deadlineMs: DEADLINE_MS });
    ({ one: store, sql } = processes);
  }, 60_000);
  beforeEach(async () => {
    await processes.reset();
    await store.createWebhook(webhookRecord("wh_1"), 20, null);
  });
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Writes a delivery for each webhook that the query names by its `id`. */
  const write = (ids: string, state = "pending") =>
    sql.unsafe(`
      INSERT INTO webhook_deliveries (delivery_id, webhook_id, account_id, event_id, type, body, created_at, state,
        attempts, scheduled, latency_ms, next_attempt_at)
      SELECT gen_random_uuid(), id, 'acc_a', 'evt', 'webhook.test', '{}', ${NOON}, '${state}', 0, 0, 0, ${NOON}
      FROM (${ids}) AS webhooks (id)`);
  const kept = async () => {
    const rows = await sql`SELECT DISTINCT webhook_id FROM webhook_deliveries ORDER BY 1`;
    return rows.map((row: { readonly webhook_id: string }) => row.webhook_id);
  };
  /** Runs work while the removal of each delivery does this first. */
  async function whileRemoving(first: string, work: () => unknown): Promise<void> {
    await sql.unsafe(`
      CREATE FUNCTION before_removal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${first}; RETURN OLD; END $$`);
    await sql`
      CREATE TRIGGER before_removal BEFORE DELETE ON webhook_deliveries
        FOR EACH ROW EXECUTE FUNCTION before_removal()`;
    try {
      await work();
    } finally {
      await sql`DROP FUNCTION before_removal CASCADE`;
    }
  }
  const prune = () => removeOldDeliveries(store, NOON, new AbortController().signal);

  test.each(REMOVALS)("by %s takes all its deliveries with it, however many there are", async (_, remove) => {
    await write(`SELECT 'wh_1' FROM generate_series(1, ${MANY})`);
    await write("VALUES ('wh_1')", "sending");
    await whileRemoving(SLOW, () => remove(store));
    expect([await store.findWebhook("acc_a", "wh_1"), await kept()]).toEqual([null, []]);
  });

  test.each(REMOVALS)(
    "by %s is gone where its deliveries cannot be removed now, and they are later",
    async (_, remove) => {
      for (const state of ["pending", "sending"]) await write("VALUES ('wh_1')", state);
      const full = "RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'";
      await whileRemoving(full, () => remove(store));
      expect([await store.findWebhook("acc_a", "wh_1"), await kept()]).toEqual([null, ["wh_1"]]);
      expect([await store.nextDueAt(), await store.claimDelivery(NOON, [])]).toEqual([null, null]);
      await prune();
      expect(await kept()).toEqual([]);
    },
  );

  test("leaves nothing for good, however many webhooks there are; those of the others stay", async () => {
    await sql`
      INSERT INTO webhooks (webhook_id, account_id, url, secret, former_secrets, created_at)
      SELECT 'wh_2_' || n, 'acc_a', 'https://a.example/', 's', '[]', ${NOON}::bigint FROM generate_series(1, 2500) AS n`;
    await write("SELECT webhook_id FROM webhooks");
    const others = await kept();
    await write("SELECT 'wh_3' FROM generate_series(1, 1200)");
    await write("VALUES ('wh_0')");
    for (let round = 0; round < 3; round += 1) await prune();
    expect(await kept()).toEqual(others);
    await write("VALUES ('wh_0')");
    for (let round = 0; round < 3; round += 1) await prune();
    expect(await kept()).toEqual(others);
  });
});
