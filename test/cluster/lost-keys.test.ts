import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { KeyLostError } from "../../src/store/admit-port.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { jobRecord } from "../store/job-conformance.ts";
import { keyRecord, NOON, replyRecord } from "../store/store-conformance.ts";
import { event, webhookRecord } from "../store/webhook-conformance.ts";
import { until } from "../support/caller.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { refusalOf, startTestServer } from "../support/server.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

const LATER = Date.now() + 86_400_000;
/** The name and the reply of a call under a key. */
const reply = (body: string) => replyRecord("k", { expiresAt: LATER, body });

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so keys that calls have lost are not tested", () => {});
}

/** Changes that keep a reply, and what is prepared for them. */
const CHANGES: readonly (readonly [
  string,
  (store: SharedStore) => Promise<unknown>,
  (store: SharedStore, body: string, name: string) => Promise<unknown>,
])[] = [
  [
    "a new key",
    async () => {},
    async (store, body, name) => store.addKey(keyRecord("acc_a", name), 99, reply(body)),
  ],
  [
    "a rotation",
    async () => {},
    async (store, body, name) =>
      store.rotateKey(keyRecord("acc_a", name), { keyId: null, endsAt: NOON }, reply(body)),
  ],
  [
    "a plan change",
    async () => {},
    async (store, body) =>
      store.changePlan(
        "acc_a",
        () => ({ plan: body === "late" ? "scale" : "growth", pendingPlan: null, started: null }),
        () => reply(body),
      ),
  ],
  [
    "a new job",
    async () => {},
    async (store, body, name) => store.createJob(jobRecord(name), reply(body), 99),
  ],
  [
    "a new webhook",
    async () => {},
    async (store, body, name) => store.createWebhook(webhookRecord(name), 99, reply(body)),
  ],
  [
    "a changed webhook",
    async (store) => store.createWebhook(webhookRecord("wh_1"), 99, null),
    async (store, body) =>
      store.changeWebhook(
        "acc_a",
        "wh_1",
        () => ({ url: `https://${body}.example.com/` }),
        () => reply(body),
      ),
  ],
  [
    "a test event",
    async (store) => store.createWebhook(webhookRecord("wh_1"), 99, null),
    async (store, body) => store.addDelivery(webhookRecord("wh_1"), event(), () => reply(body)),
  ],
];

describe.if(isPostgresInstalled)("a call that hung until another node took its key over", () => {
  let processes: TwoProcesses;

  beforeAll(async () => {
    processes = await openTwoProcesses();
  }, 60_000);
  beforeEach(() => processes.reset());
  afterAll(() => processes?.[Symbol.asyncDispose]());

  const claim = (store: SharedStore) => store.claimKey("acc_a", "k", "f");
  const lapse = () => processes.sql`UPDATE idempotency_claims SET lease_until = 0`;
  const body = async () => (await processes.one.findReply("acc_a", "k"))?.body;

  /** All rows that a change may leave. */
  async function state(): Promise<unknown> {
    const { sql } = processes;
    return Promise.all([
      sql`SELECT key_hash, expires_at FROM api_keys ORDER BY key_hash`,
      sql`SELECT plan FROM accounts`,
      sql`SELECT job_id FROM jobs ORDER BY job_id`,
      sql`SELECT webhook_id, url FROM webhooks ORDER BY webhook_id`,
      sql`SELECT count(*)::int AS deliveries FROM webhook_deliveries`,
    ]);
  }

  test.each(CHANGES)("makes its change no more, once that is made: %s", async (_, prepare, change) => {
    const { one, two } = processes;
    await prepare(one);
    await claim(one);
    await lapse();
    await claim(two);
    await change(two, "first", "first");
    const made = await state();
    await expect(change(one, "late", "late")).rejects.toThrow(KeyLostError);
    await two.releaseKey("acc_a", "k");
    await expect(change(one, "late", "late")).rejects.toThrow(KeyLostError);
    expect([await state(), await body()]).toEqual([made, "first"]);
    // What it leaves keeps nobody from the reply.
    await one.releaseKey("acc_a", "k");
    expect(await claim(two)).toEqual({ isClaimed: true });
  });

  test.each(CHANGES)("makes its change where nobody has made it: %s", async (_, prepare, change) => {
    const { one, two } = processes;
    await prepare(one);
    await claim(one);
    await lapse();
    await change(one, "late", "late");
    expect(await body()).toBe("late");
    expect(await claim(two)).toEqual({ isClaimed: false, fingerprint: "f" });
    await one.releaseKey("acc_a", "k");
    expect(await claim(two)).toEqual({ isClaimed: true });
  });

  test("makes its change where the other call ended without one", async () => {
    const { one, two } = processes;
    await claim(one);
    await lapse();
    await claim(two);
    await two.releaseKey("acc_a", "k");
    await one.addKey(keyRecord("acc_a", "late"), 99, reply("late"));
    expect(await body()).toBe("late");
    expect(await claim(two)).toEqual({ isClaimed: false, fingerprint: "f" });
  });

  test("is 409 to its caller, changes nothing, and may be repeated", async () => {
    const { sql, url } = processes;
    await using server = await startTestServer({ environment: { DATABASE_URL: url } });
    const key = await server.signUp();
    const call = () =>
      server.call("/v1/account/keys", { key, body: { name: "new" }, headers: { "Idempotency-Key": "k" } });
    let hanging: Promise<Response> | undefined;
    await sql.begin(async (transaction) => {
      await transaction`SELECT 1 FROM accounts FOR UPDATE`;
      hanging = call();
      const taken = () =>
        transaction`UPDATE idempotency_claims SET process_id = 'other', lease_until = ${LATER} RETURNING process_id`;
      await until("the claim", async () => (await taken()).length > 0);
    });
    expect(await refusalOf((await hanging) ?? new Response())).toBe("409 idempotency_in_progress");
    const { data } = (await (await server.call("/v1/account/keys", { key })).json()) as { data: unknown[] };
    expect(data).toHaveLength(1);
    await sql`DELETE FROM idempotency_claims`;
    expect((await call()).status).toBe(201);
  });
});
