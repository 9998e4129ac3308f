import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { AccountErasedError } from "../../src/store/account-port.ts";
import { DELIVERIES_AT_ONCE_MAX } from "../../src/store/delivery-steps.ts";
import { PAUSES_OF_JOB_MAX } from "../../src/store/paused-deliveries.ts";
import type { Store } from "../../src/store/port.ts";
import { TEST_DELIVERIES_MAX } from "../../src/store/test-deliveries.ts";
import type { AttemptEnd, DeliveryRecord, WebhookRecord } from "../../src/store/webhook-port.ts";
import { claimed, finish, finishedChunk, jobRecord, startedJob } from "./job-conformance.ts";
import { clock, NOON, replyRecord, signUp } from "./store-conformance.ts";

export function webhookRecord(webhookId: string, more: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    ...{ webhookId, accountId: "acc_a", url: "https://a.example/", events: null, description: null },
    ...{ disabledReason: null, secret: "whsec_a", formerSecrets: [], createdAt: NOON },
    ...{ failingSince: null, failedAt: null, failingMs: 0 },
    ...more,
  };
}

export const event = (type = "webhook.test", at = NOON) => ({ type, at, data: { of: type } });
const noReply = () => null;
const GOT_500 = { status: 500, error: null, latencyMs: 12, answer: "no\0" };
const stays = {};

/** Adds a delivery to a webhook that is there and enabled. */
async function added(store: Store, webhook: WebhookRecord, what = event()): Promise<DeliveryRecord> {
  const delivery = await store.addDelivery(webhook, what, noReply);
  if (delivery === null) throw new Error("the webhook takes nothing");
  return delivery;
}

/** Claims a delivery that is due. */
async function claimedDelivery(store: Store, now = NOON): Promise<DeliveryRecord> {
  const claim = await store.claimDelivery(now, []);
  if (claim === null) throw new Error("no delivery is due");
  return claim.delivery;
}

/** What every store does with webhooks and their deliveries. `expireLeases` ends the claims of all processes. */
export function describeWebhooks(
  name: string,
  open: (clock: Clock) => Store | Promise<Store>,
  expireLeases: () => Promise<unknown> = async () => {},
): void {
  async function opened(...webhooks: readonly WebhookRecord[]): Promise<Store> {
    const store = await open(clock);
    await signUp(store, "acc_a");
    for (const webhook of webhooks) await store.createWebhook(webhook, 20, null);
    return store;
  }

  const typesOf = async (store: Store, webhookId: string) => {
    const page = { webhookId, afterDeliveryId: null, since: 0, limit: 100 };
    return ((await store.deliveryPage(page)) ?? []).map(({ type }) => type).sort();
  };

  describe(`${name}: webhooks`, () => {
    test("an account that is erased takes no webhook", async () => {
      const store = await opened();
      const act = { at: NOON, operator: "root", action: "erase", accountId: "acc_a", details: "{}" } as const;
      await store.eraseAccount("acc_a", NOON, act);
      const create = async () => store.createWebhook(webhookRecord("wh_1"), 20, replyRecord("r"));
      await expect(create()).rejects.toBeInstanceOf(AccountErasedError);
      expect([await store.webhooksOf("acc_a"), await store.findReply("acc_a", "r")]).toEqual([[], null]);
    });

    test("a webhook is kept as it is, with its reply, for its account alone", async () => {
      const former = [{ secret: "whsec_b", endsAt: 7 }];
      const webhook = webhookRecord("wh_1", { events: ["job.completed"], formerSecrets: former });
      const store = await opened();
      await store.createWebhook(webhook, 20, replyRecord("r"));
      expect(await store.findWebhook("acc_a", "wh_1")).toEqual(webhook);
      expect(await store.findWebhook("acc_b", "wh_1")).toBeNull();
      expect(await store.webhooksOf("acc_a")).toEqual([webhook]);
      expect((await store.findReply("acc_a", "r"))?.body).toBe("x");
      expect(await store.removeWebhook("acc_b", "wh_1")).toBe(false);
      expect(await store.removeWebhook("acc_a", "wh_1")).toBe(true);
      expect(await store.webhooksOf("acc_a")).toEqual([]);
    });

    test("a change is atomic, with the reply that is made of it", async () => {
      const store = await opened(webhookRecord("wh_1", { events: ["job.failed"] }));
      const change = { url: "https://b.example/", events: null, secret: "whsec_c" };
      const changed = await store.changeWebhook(
        "acc_a",
        "wh_1",
        () => change,
        ({ url }) => replyRecord("r", { body: url }),
      );
      expect(changed).toEqual(webhookRecord("wh_1", change));
      expect((await store.findReply("acc_a", "r"))?.body).toBe("https://b.example/");
      expect(await store.changeWebhook("acc_b", "wh_1", () => change, noReply)).toBeNull();
    });

    test("of changes at once each is made of what the one before it left", async () => {
      const store = await opened(webhookRecord("wh_1", { secret: "whsec_0" }));
      const secrets = ["whsec_1", "whsec_2", "whsec_3", "whsec_4"];
      const rotate = (secret: string) => (before: WebhookRecord) => ({
        secret,
        formerSecrets: [{ secret: before.secret, endsAt: NOON + 9 }, ...before.formerSecrets],
      });
      await Promise.all(
        secrets.map(async (secret) => await store.changeWebhook("acc_a", "wh_1", rotate(secret), noReply)),
      );
      const webhook = await store.findWebhook("acc_a", "wh_1");
      const all = [webhook?.secret, ...(webhook?.formerSecrets ?? []).map(({ secret }) => secret)];
      expect(all.sort()).toEqual(["whsec_0", ...secrets]);
    });

    test("a change that is refused once the webhook is known changes nothing", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const refuse = () => {
        throw new ApiError("invalid_request", "No.");
      };
      const changed = async () => await store.changeWebhook("acc_a", "wh_1", refuse, noReply);
      await expect(changed()).rejects.toThrow(new ApiError("invalid_request", "No."));
      expect(await store.webhooksOf("acc_a")).toEqual([webhookRecord("wh_1")]);
    });

    test("of webhooks that are added at once an account has no more than it may", async () => {
      const store = await opened(webhookRecord("wh_0"));
      const added = await Promise.all(
        [1, 2, 3, 4].map(
          async (n) => await store.createWebhook(webhookRecord(`wh_${n}`), 3, replyRecord(`r${n}`)),
        ),
      );
      expect(added.filter(Boolean)).toHaveLength(2);
      expect(await store.webhooksOf("acc_a")).toHaveLength(3);
      expect(await store.keptReplies()).toMatchObject([{ count: 2 }]);
    });

    test("a job's end is written for each webhook that wants it, under one id, and for the job's own address", async () => {
      const store = await opened(
        webhookRecord("wh_all"),
        webhookRecord("wh_some", { events: ["quota.80"], createdAt: NOON + 1 }),
        webhookRecord("wh_off", { disabledReason: "by_caller", createdAt: NOON + 2 }),
      );
      await startedJob(store, "job_1", 1);
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1")));
      await store.endRound("job_1", { finishedAt: NOON, expiresAt: NOON });
      const own = { status: "running", webhookUrl: "https://own.example/" } as const;
      await store.createJob(jobRecord("job_2", own), null, 9);
      await store.changeJob("job_2", ["running"], { status: "failed", statusReason: "x" });
      expect(await typesOf(store, "wh_all")).toEqual(["job.completed", "job.failed", "job.failed"]);
      expect([await typesOf(store, "wh_some"), await typesOf(store, "wh_off")]).toEqual([[], []]);
      const page = { webhookId: "wh_all", afterDeliveryId: null, since: 0, limit: 9 };
      const failed = ((await store.deliveryPage(page)) ?? []).filter(({ type }) => type === "job.failed");
      expect(new Set(failed.map(({ eventId }) => eventId)).size).toBe(1);
      expect(failed.map(({ url }) => url).sort()).toEqual(["https://own.example/", null]);
    });

    test("a share of the quota that is used up is reported once", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const mark = { accountId: "acc_a", periodStart: 1, percent: 80, event: event("quota.80") } as const;
      const record = () =>
        store.record({ sums: [], replies: [], chunks: [], quotaMarks: [mark], keptAt: null }, "at_once");
      await record();
      await record();
      expect(await typesOf(store, "wh_1")).toEqual(["quota.80"]);
    });

    test("webhooks take turns, and none is claimed before it is due or for an account that is left out", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [one, two] = await store.webhooksOf("acc_a");
      if (one === undefined || two === undefined) throw new Error("no webhooks");
      for (const at of [NOON, NOON + 1, NOON + 2])
        await store.addDelivery(one, event("webhook.test", at), noReply);
      await store.addDelivery(two, event("webhook.test", NOON + 3), noReply);
      expect(await store.nextDueAt()).toBe(NOON);
      expect(await store.claimDelivery(NOON - 1, [])).toBeNull();
      expect(await store.claimDelivery(NOON + 9, ["acc_a"])).toBeNull();
      const turns: (string | undefined)[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        turns.push((await store.claimDelivery(NOON + 9, []))?.webhook.webhookId);
      }
      expect(turns).toEqual(["wh_1", "wh_2", "wh_1", "wh_1", undefined]);
      expect(await store.nextDueAt()).toBeNull();
    });

    test("deliveries that are claimed at once are claimed once each", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      for (const webhook of await store.webhooksOf("acc_a")) {
        for (let n = 0; n < 4; n += 1) await store.addDelivery(webhook, event(), noReply);
      }
      const claims = new Set<string>();
      for (let round = 0; round < 20 && claims.size < 8; round += 1) {
        const some = await Promise.all(Array.from({ length: 4 }, async () => store.claimDelivery(NOON, [])));
        const ids = some.flatMap((claim) => claim?.delivery.deliveryId ?? []);
        expect(ids.filter((id) => claims.has(id))).toEqual([]);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of ids) claims.add(id);
      }
      expect(claims.size).toBe(8);
    });

    test("an attempt that failed is due again when it says, and one that ended is not", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      const { deliveryId } = await added(store, webhook);
      const first = await claimedDelivery(store);
      expect(first.deliveryId).toBe(deliveryId);
      const failures = { failingSince: NOON, failedAt: NOON + 1, failingMs: 1 };
      const again = { state: "pending", nextAttemptAt: NOON + 50, webhook: failures } as const;
      await store.endAttempt(first, NOON + 1, GOT_500, again);
      const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 9 };
      expect(await store.deliveryPage(page)).toMatchObject([
        { state: "pending", attempts: 1, scheduled: 1, status: 500, latencyMs: 12, lastAttemptAt: NOON + 1 },
      ]);
      expect(await store.findWebhook("acc_a", "wh_1")).toEqual({ ...webhook, ...failures });
      expect([await store.nextDueAt(), await store.claimDelivery(NOON + 49, [])]).toEqual([NOON + 50, null]);
      const second = await claimedDelivery(store, NOON + 50);
      expect(second.attempts).toBe(1);
      const done = { state: "delivered", nextAttemptAt: null, webhook: { failingSince: null } } as const;
      await store.endAttempt(second, NOON + 60, { ...GOT_500, status: 200 }, done);
      expect([await store.nextDueAt(), (await store.findWebhook("acc_a", "wh_1"))?.failingSince]).toEqual([
        null,
        null,
      ]);
    });

    test("what is due after a time, delivery or turn, is recalled in steps, and what is due before it stays", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [webhook, other] = await store.webhooksOf("acc_a");
      if (webhook === undefined || other === undefined) throw new Error("no webhooks");
      // A shared store compares with the clock of its server.
      const now = Math.floor(systemClock.now());
      const hours = (n: number) => now + n * 3_600_000;
      const add = (to: WebhookRecord, n: number) => added(store, to, event("job.failed", hours(n)));
      for (const n of [1, 26, 28, 29]) await add(webhook, n);
      // The clock was ahead when this one had its turn: its other delivery is behind a turn that is far ahead.
      for (const n of [-2, -1]) await add(other, n);
      await claimedDelivery(store, hours(90));
      const due = async (n: number) => {
        const claim = await store.claimDelivery(hours(n), []);
        return claim === null ? null : (claim.delivery.createdAt - now) / 3_600_000;
      };
      expect(await due(0.9)).toBeNull();
      const recall = async () => await store.recallDeliveries(now, hours(27), 2);
      expect([await recall(), await recall(), await recall()]).toEqual([2, 1, 0]);
      const found = new Set([await due(0), await due(0), await due(0), await due(0)]);
      expect(found).toEqual(new Set([-1, 28, 29, null]));
      expect([await due(0.9), await due(1), await due(25), await due(26)]).toEqual([null, 1, null, 26]);
    });

    test("a disabled webhook has no attempts left, and gets none from a delivery in flight", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      for (let n = 0; n < 3; n += 1) await store.addDelivery(webhook, event(), noReply);
      const sent = await claimedDelivery(store);
      await store.changeWebhook("acc_a", "wh_1", () => ({ disabledReason: "by_caller" }), noReply);
      await store.endAttempt(sent, NOON, GOT_500, {
        state: "pending",
        nextAttemptAt: NOON + 5,
        webhook: stays,
      });
      expect([await store.nextDueAt(), await store.claimDelivery(NOON + 9, [])]).toEqual([null, null]);
      const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 9 };
      expect(((await store.deliveryPage(page)) ?? []).map(({ state }) => state)).toEqual([
        "failed",
        "failed",
        "failed",
      ]);
    });

    test("a disabled webhook with more deliveries than a step gives up the rest when it has its turn", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [webhook, other] = await store.webhooksOf("acc_a");
      if (webhook === undefined || other === undefined) throw new Error("no webhooks");
      for (let n = 0; n < 2 * DELIVERIES_AT_ONCE_MAX + 1; n += 1)
        await added(store, webhook, event("job.failed"));
      await added(store, other);
      await store.changeWebhook("acc_a", "wh_1", () => ({ disabledReason: "by_caller" }), noReply);
      const pending = async () => {
        const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 2_000 };
        return ((await store.deliveryPage(page)) ?? []).filter(({ state }) => state === "pending").length;
      };
      expect(await pending()).toBe(DELIVERIES_AT_ONCE_MAX + 1);
      expect((await store.claimDelivery(NOON + 1, []))?.webhook.webhookId).toBe("wh_2");
      expect(await pending()).toBe(1);
      expect(await store.claimDelivery(NOON + 1, [])).toBeNull();
      expect([await store.claimDelivery(NOON + 2, []), await pending()]).toEqual([null, 0]);
      expect(await store.nextDueAt()).toBeNull();
    });

    test("the deliveries of a removed webhook are all removed in the end, and those of others stay", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [webhook, other] = await store.webhooksOf("acc_a");
      if (webhook === undefined || other === undefined) throw new Error("no webhooks");
      for (let n = 0; n < DELIVERIES_AT_ONCE_MAX + 1; n += 1)
        await added(store, webhook, event("job.failed"));
      await added(store, other);
      expect(await store.removeWebhook("acc_a", "wh_1")).toBe(true);
      while ((await store.removeDeliveries(0, 100)) > 0);
      expect([await typesOf(store, "wh_1"), await typesOf(store, "wh_2")]).toEqual([[], ["webhook.test"]]);
    });

    test("of its test events a webhook keeps the newest, to a bound; other events and webhooks lose none", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [webhook, other] = await store.webhooksOf("acc_a");
      if (webhook === undefined || other === undefined) throw new Error("no webhooks");
      await added(store, webhook, event("job.failed", NOON - 9));
      await added(store, other, event("webhook.test", NOON - 9));
      for (let n = 0; n < TEST_DELIVERIES_MAX + 5; n += 1)
        await added(store, webhook, event("webhook.test", NOON + n));
      const createdAt = async (webhookId: string) => {
        const page = { webhookId, afterDeliveryId: null, since: 0, limit: 500 };
        return ((await store.deliveryPage(page)) ?? []).map((delivery) => delivery.createdAt);
      };
      const newest = Array.from({ length: TEST_DELIVERIES_MAX }, (_, n) => NOON + n + 5).reverse();
      expect(await createdAt("wh_1")).toEqual([...newest, NOON - 9]);
      expect(await createdAt("wh_2")).toEqual([NOON - 9]);
      // The clock was set back.
      const { deliveryId } = await added(store, webhook, event("webhook.test", NOON));
      expect(await createdAt("wh_1")).toEqual([...newest.slice(0, -1), NOON, NOON - 9]);
      expect([
        await claimedDelivery(store),
        await claimedDelivery(store),
        await claimedDelivery(store),
      ]).toContainEqual(expect.objectContaining({ deliveryId }));
    });

    test("of the pauses of a job a webhook keeps the newest, to a bound; other jobs, events and addresses lose none", async () => {
      // A shared store that the tests have open keeps its own clock.
      let now = NOON;
      const store = await open({ ...clock, now: () => now });
      await signUp(store, "acc_a");
      await store.createWebhook(webhookRecord("wh_1"), 20, null);
      await added(store, webhookRecord("wh_1"), event("job.failed", NOON - 9));
      const own = { status: "running", webhookUrl: "https://own.example/" } as const;
      await store.createJob(jobRecord("job_2", { ...own, name: '{"job_id":"job_1"}' }), null, 9);
      await store.createJob(jobRecord("job_1", { status: "running" }), null, 9);
      const pause = async (jobId: string) => {
        await store.changeJob(jobId, ["running"], { status: "paused", statusReason: "by_caller" });
        await store.changeJob(jobId, ["paused"], { status: "running", statusReason: null });
      };
      const listed = async (limit = 1_000) =>
        (await store.deliveryPage({ webhookId: "wh_1", afterDeliveryId: null, since: 0, limit })) ?? [];
      const of = async (jobId: string) =>
        (await listed()).filter(({ body }) => body.includes(`"job_id":"${jobId}"`));
      for (let n = 0; n < PAUSES_OF_JOB_MAX; n += 1) await pause("job_2");
      const times: (number | undefined)[] = [];
      // The older ones are removed with one of 16.
      for (; times.length < PAUSES_OF_JOB_MAX + 230; now += 1) {
        await pause("job_1");
        times.unshift((await listed(1))[0]?.createdAt);
      }
      const kept = (await of("job_1")).map(({ createdAt }) => createdAt);
      expect(kept.length).toBeLessThan(PAUSES_OF_JOB_MAX + 200);
      expect(kept.length).toBeGreaterThanOrEqual(PAUSES_OF_JOB_MAX);
      expect<typeof times>(kept).toEqual(times.slice(0, kept.length));
      expect(await of("job_2")).toHaveLength(2 * PAUSES_OF_JOB_MAX);
      expect((await listed()).filter(({ type }) => type === "job.failed")).toHaveLength(1);
      // Where the clock was set back, the new one is not among those that are removed.
      for (now = NOON - 1; now > NOON - 40; now -= 1) {
        const before = new Set((await of("job_1")).map(({ deliveryId }) => deliveryId));
        await pause("job_1");
        expect((await of("job_1")).filter(({ deliveryId }) => !before.has(deliveryId))).toHaveLength(1);
      }
    });

    test("a webhook that was disabled or removed since it was read gets no delivery, and none is replayed", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      const { deliveryId } = await added(store, webhook);
      await store.changeWebhook("acc_a", "wh_1", () => ({ disabledReason: "by_caller" }), noReply);
      const reply = () => replyRecord("r");
      const tried = async () => [
        await store.addDelivery(webhook, event(), reply),
        await store.replayDelivery("wh_1", deliveryId, NOON, reply),
        await store.findReply("acc_a", "r"),
        await store.nextDueAt(),
      ];
      expect(await tried()).toEqual([null, null, null, null]);
      expect(await typesOf(store, "wh_1")).toHaveLength(1);
      await store.removeWebhook("acc_a", "wh_1");
      expect(await tried()).toEqual([null, null, null, null]);
      expect(await typesOf(store, "wh_1")).toEqual([]);
    });

    test("what an address answers that the webhook no longer has disables nothing and counts for nothing", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      const { deliveryId } = await added(store, webhook);
      const former = await claimedDelivery(store);
      await store.changeWebhook("acc_a", "wh_1", () => ({ url: "https://b.example/" }), noReply);
      const gone = { disabledReason: "gone", failingSince: NOON } as const;
      const failed = { state: "failed", nextAttemptAt: null, webhook: gone } as const;
      await store.endAttempt(former, NOON, GOT_500, { ...failed, claimed: webhook });
      expect(await store.webhooksOf("acc_a")).toEqual([{ ...webhook, url: "https://b.example/" }]);
      await store.replayDelivery("wh_1", deliveryId, NOON, noReply);
      await store.endAttempt(await claimedDelivery(store), NOON, GOT_500, {
        ...failed,
        claimed: { ...webhook, url: "https://b.example/" },
      });
      expect((await store.findWebhook("acc_a", "wh_1"))?.disabledReason).toBe("gone");
    });

    test("an attempt that fails takes nothing back of what another, or the owner, changed meanwhile", async () => {
      const store = await opened(webhookRecord("wh_1", { failingSince: NOON - 9 }));
      const [claimed] = await store.webhooksOf("acc_a");
      if (claimed === undefined) throw new Error("no webhook");
      const ends = async (webhook: AttemptEnd["webhook"]) => {
        await added(store, claimed);
        const end = { state: "failed", nextAttemptAt: null, webhook, claimed } as const;
        await store.endAttempt(await claimedDelivery(store), NOON, GOT_500, end);
        const { disabledReason, failingSince } = (await store.findWebhook("acc_a", "wh_1")) ?? {};
        return { disabledReason, failingSince };
      };
      await ends({ failingSince: null });
      const failed = { disabledReason: "failing", failingSince: NOON - 9 } as const;
      expect(await ends(failed)).toEqual({ disabledReason: null, failingSince: null });
      expect(await ends({ ...failed, disabledReason: "gone" })).toMatchObject({ disabledReason: "gone" });
    });

    test("what an attempt says under a claim that was lost changes neither the delivery, claimed anew or not, nor its webhook", async () => {
      const store = await opened(webhookRecord("wh_1"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      const { deliveryId } = await added(store, webhook);
      const lost = await claimedDelivery(store);
      await expireLeases();
      expect(await store.reapDeliveries()).toBe(1);
      const gone = { disabledReason: "gone", failingSince: NOON } as const;
      const late = async () =>
        await store.endAttempt(lost, NOON, GOT_500, {
          ...{ state: "failed", nextAttemptAt: null, webhook: gone, claimed: webhook },
        });
      await late();
      const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 9 };
      const untouched = { deliveryId, attempts: 0, status: null };
      expect(await store.deliveryPage(page)).toMatchObject([{ ...untouched, state: "pending" }]);
      const held = await claimedDelivery(store);
      await late();
      expect(await store.deliveryPage(page)).toMatchObject([{ ...untouched, state: "sending" }]);
      expect(await store.webhooksOf("acc_a")).toEqual([webhook]);
      const done = { state: "delivered", nextAttemptAt: null, webhook: stays } as const;
      await store.endAttempt(held, NOON, { ...GOT_500, status: 200 }, done);
      await late();
      expect(await store.deliveryPage(page)).toMatchObject([
        { state: "delivered", attempts: 1, status: 200 },
      ]);
    });

    test("a replay begins the schedule anew; pages are of one webhook, and old ones are removed", async () => {
      const store = await opened(webhookRecord("wh_1"), webhookRecord("wh_2"));
      const [webhook] = await store.webhooksOf("acc_a");
      if (webhook === undefined) throw new Error("no webhook");
      const { deliveryId } = await added(store, webhook);
      const failed = { state: "failed", nextAttemptAt: null, webhook: stays } as const;
      await store.endAttempt(await claimedDelivery(store), NOON, GOT_500, failed);
      expect(await store.replayDelivery("wh_2", deliveryId, NOON, noReply)).toBeNull();
      const replayed = await store.replayDelivery("wh_1", deliveryId, NOON + 3, () => replyRecord("r"));
      expect(replayed).toMatchObject({
        state: "pending",
        scheduled: 0,
        attempts: 1,
        nextAttemptAt: NOON + 3,
      });
      const page = { since: 0, limit: 9, afterDeliveryId: deliveryId };
      expect(await store.deliveryPage({ ...page, webhookId: "wh_1" })).toEqual([]);
      expect(await store.deliveryPage({ ...page, webhookId: "wh_2" })).toBeNull();
      expect(await store.removeDeliveries(NOON + 1, 9)).toBe(0);
      await store.endAttempt(await claimedDelivery(store, NOON + 3), NOON, GOT_500, failed);
      expect(await store.removeDeliveries(NOON + 1, 9)).toBe(1);
      expect(await typesOf(store, "wh_1")).toEqual([]);
    });
  });
}
