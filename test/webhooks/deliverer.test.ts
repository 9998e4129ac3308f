import { afterEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { ApiError } from "../../src/contract/errors.ts";
import type { AddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { JobRecord, JobStatus } from "../../src/store/job-records.ts";
import type { EmbeddedStore } from "../../src/store/port.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import type { WebhookPort } from "../../src/store/webhook-port.ts";
import { createDeliverer, DELIVERY_LIMITS } from "../../src/webhooks/deliverer.ts";
import { RETRY_DELAYS_MS } from "../../src/webhooks/delivery-schedule.ts";
import { WEBHOOK_TARGETS } from "../../src/webhooks/webhook-url.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { type HandClock, handClock, openAccounting, signUp, withDirectory } from "../billing/accounting.ts";
import { certificate, startRawServer } from "../support/raw-server.ts";

const DAY_MS = 86_400_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Sent = { readonly headers: Record<string, string>; readonly body: string; readonly path: string };

/** A receiver on this machine that answers what `answer` says, and remembers what it was sent. */
function receiver(answer: (sent: Sent, count: number) => Response | Promise<Response>) {
  const sent: Sent[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const headers = Object.fromEntries(request.headers.entries());
      const one = { headers, body: await request.text(), path: new URL(request.url).pathname };
      sent.push(one);
      return answer(one, sent.length);
    },
  });
  closing.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/hook`, sent };
}

type WorldOptions = {
  readonly clock?: HandClock;
  readonly dataDir?: string;
  readonly allowPrivate?: boolean;
  readonly lookUp?: AddressLookup;
  readonly ca?: string;
  readonly port?: number;
  readonly totalTimeoutMs?: number;
  /** The store that the deliverer has, made of the real one. */
  readonly around?: (store: WebhookPort) => WebhookPort;
};

function world(options: WorldOptions = {}) {
  const { clock = handClock(), dataDir, allowPrivate = true, lookUp, ca, port, around } = options;
  const { totalTimeoutMs = DELIVERY_LIMITS.totalTimeoutMs } = options;
  const accounting = openAccounting({ clock, ...(dataDir === undefined ? {} : { dataDir }) });
  const ports = port === undefined ? WEBHOOK_TARGETS.ports : [port];
  const rules = { ...WEBHOOK_TARGETS, ports, allowPrivate };
  const loopback: AddressLookup = async () => ({ ok: true, addresses: ["127.0.0.1"] });
  const errors: unknown[] = [];
  const deliverer = createDeliverer({
    store: around?.(accounting.store) ?? accounting.store,
    client: createHttpClient(
      { lookUp: lookUp ?? loopback, clock: systemClock, ...(ca === undefined ? {} : { ca }) },
      { ...rules, redirectsMax: 0, limits: { ...DELIVERY_LIMITS, totalTimeoutMs } },
    ),
    clock,
    retentionClock: clock,
    random: () => 0,
    report: (error) => errors.push(error),
    settings: { inFlightMax: 8, overflow: 1.5, accountInFlightMax: 2, reapEveryMs: null },
  });
  const webhooks = createWebhooks({ store: accounting.store, clock, randomBytes, rules, wake: () => {} });
  const close = async () => {
    await deliverer[Symbol.asyncDispose]();
    accounting.store.close();
    expect(errors.splice(0)).toEqual([]);
  };
  closing.push(close);
  return {
    ...accounting,
    errors,
    accounting,
    clock,
    deliverer,
    webhooks,
    close,
    account: () => signUp(accounting).accountId,
    create: (accountId: string, url: string, events: readonly string[] | null = null) =>
      webhooks.create(accountId, { url, events, description: null }, () => null),
    async deliver() {
      void deliverer.pump();
      await deliverer.idle();
    },
    deliveries: (accountId: string, webhookId: string) =>
      webhooks.deliveries(accountId, webhookId, { limit: 100, startingAfter: null }).data,
  };
}

let jobs = 0;
function job(store: EmbeddedStore, accountId: string, webhookUrl: string | null = null): string {
  jobs += 1;
  const record = {
    jobId: `job_${jobs}`,
    accountId,
    kind: "email",
    name: "list",
    status: "running",
    statusReason: null,
    createdAt: 1,
    startedAt: 1,
    finishedAt: null,
    expiresAt: null,
    erasedAt: null,
    deletedAt: null,
    options: "{}",
    inputTable: null,
    chunkCount: 1,
    rows: 3,
    distinctRows: 2,
    unitsPerItem: 1,
    processed: 3,
    counts: "{}",
    unitsCharged: 2,
    round: 1,
    isTest: false,
    webhookUrl,
  };
  store.createJob(record as JobRecord, null, 100);
  return record.jobId;
}

test("a test event is signed for the reference library, under one id at every attempt", async () => {
  const { url, sent } = receiver(
    (_, count) => new Response("x".repeat(5_000), { status: count === 1 ? 500 : 200 }),
  );
  const w = world({ clock: handClock(new Date().toISOString()) });
  const accountId = w.account();
  const { webhook_id, secret } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([
    {
      type: "webhook.test",
      state: "pending",
      attempts: 1,
      status: 500,
      error: null,
      answer: "x".repeat(1_024),
    },
  ]);
  w.clock.advance(4_999);
  await w.deliver();
  expect(sent).toHaveLength(1);
  w.clock.advance(1);
  await w.deliver();
  expect(sent).toHaveLength(2);
  for (const { headers, body } of sent) {
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({
      type: "webhook.test",
      timestamp: expect.any(String),
      data: { webhook_id },
    });
  }
  expect(sent[0]?.headers["webhook-id"]).toBe(sent[1]?.headers["webhook-id"]);
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([
    { state: "delivered", attempts: 2, status: 200, next_attempt_at: null },
  ]);
});

test("an attempt whose outcome the store refuses at first is stored later, and not repeated", async () => {
  const { url, sent } = receiver(() => new Response("ok"));
  let refusals = 2;
  const w = world({
    around: (store) => ({
      ...store,
      endAttempt(...ended) {
        refusals -= 1;
        if (refusals >= 0) throw new StorageError("the disk is full");
        return store.endAttempt(...ended);
      },
    }),
  });
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  expect(sent).toHaveLength(1);
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ state: "delivered", attempts: 1 }]);
  expect(w.errors.splice(0)).toEqual([new StorageError("the disk is full")]);
});

test("a 2xx is a delivery, even where the body of the answer never ends or is cut off", async () => {
  const heads = [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok",
  ];
  const answers = [...heads];
  const server = await startRawServer((socket) => {
    const head = answers.shift() ?? "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
    socket.write(head);
    if (head.includes("Length")) socket.end();
  });
  closing.push(() => server[Symbol.dispose]());
  const w = world({ totalTimeoutMs: 3_000 });
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, `http://127.0.0.1:${server.port}/hook`);
  for (const _ of heads) w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  const taken = { state: "delivered", attempts: 1, status: 200, error: null };
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([taken, taken]);
  expect(server.connections()).toBe(2);
});

test("Retry-After is kept, even where the body of the answer is cut off", async () => {
  const head = "HTTP/1.1 503 Busy\r\nRetry-After: 600\r\nContent-Length: 10\r\n\r\nno";
  using server = await startRawServer((socket) => socket.end(head));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, `http://127.0.0.1:${server.port}/hook`);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  const due = new Date(w.clock.now() + 600_000).toISOString().replace(".000Z", "Z");
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([
    { status: 503, error: "body_incomplete", state: "pending", next_attempt_at: due },
  ]);
});

test("a URL that is not allowed is refused before the webhook is looked for", () => {
  const w = world();
  const accountId = w.account();
  const change = (url: string) => () => w.webhooks.change(accountId, "wh_none", { url }, () => null);
  expect(change("ftp://x")).toThrow("url");
  expect(change("https://b.example/")).toThrow(new ApiError("not_found", "The account has no such webhook."));
});

test("a webhook with a new URL has not failed yet", async () => {
  const { url } = receiver(() => new Response("no", { status: 500 }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  const change = (to: string) => w.webhooks.change(accountId, webhook_id, { url: to }, () => null);
  expect(change(url).failing_since).not.toBeNull();
  w.clock.advance(5 * DAY_MS);
  expect(change(`${url}/moved`)).toMatchObject({ failing_since: null, enabled: true });
  await w.deliver();
  const [moved] = w.webhooks.list(accountId).data;
  expect(moved).toMatchObject({ enabled: true, failing_since: expect.any(String) });
});

test("what the former URL answers late says nothing of the new one", async () => {
  for (const status of [410, 500]) {
    const isAsked = Promise.withResolvers<void>();
    const isMoved = Promise.withResolvers<void>();
    const { url } = receiver(async ({ path }) => {
      if (path === "/moved") return new Response();
      isAsked.resolve();
      await isMoved.promise;
      return new Response(null, { status });
    });
    const w = world();
    const accountId = w.account();
    const { webhook_id } = w.create(accountId, url);
    w.webhooks.test(accountId, webhook_id, () => null);
    const delivered = w.deliver();
    await isAsked.promise;
    w.webhooks.change(accountId, webhook_id, { url: new URL("/moved", url).href }, () => null);
    isMoved.resolve();
    await delivered;
    expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: true, failing_since: null }]);
    expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ status, attempts: 1 }]);
  }
});

test("the schedule is kept across restarts, and ends after ten attempts", async () => {
  await withDirectory(async (dataDir) => {
    const { url, sent } = receiver(() => new Response("no", { status: 500 }));
    const clock = handClock();
    const first = world({ clock, dataDir });
    const accountId = first.account();
    const { webhook_id } = first.create(accountId, url);
    first.webhooks.test(accountId, webhook_id, () => null);
    await first.deliver();
    await first.close();
    for (const delayMs of RETRY_DELAYS_MS) {
      const w = world({ clock, dataDir });
      w.store.reapDeliveries();
      const before = sent.length;
      clock.advance(delayMs - 1);
      await w.deliver();
      expect(sent.length).toBe(before);
      clock.advance(1);
      await w.deliver();
      expect(sent.length).toBe(before + 1);
      await w.close();
    }
    const last = world({ clock, dataDir });
    expect(last.deliveries(accountId, webhook_id)).toMatchObject([
      { state: "failed", attempts: 10, next_attempt_at: null },
    ]);
    clock.advance(10 * DAY_MS);
    await last.deliver();
    expect(sent).toHaveLength(10);
  });
});

test("a retry whose time was set by a clock that was days ahead is made once the clock is right", async () => {
  const { url, sent } = receiver((_, count) => new Response(null, { status: count === 1 ? 500 : 200 }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.clock.advance(9 * DAY_MS);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  w.clock.advance(-9 * DAY_MS);
  await w.deliver();
  expect(sent).toHaveLength(1);
  await w.deliverer.start();
  await w.deliverer.idle();
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ state: "delivered", attempts: 2 }]);
});

/** A process that has begun to send one event. */
function midway(dataDir: string) {
  const { url, sent } = receiver(() => new Response());
  const clock = handClock();
  const first = world({ clock, dataDir });
  const accountId = first.account();
  const { webhook_id } = first.create(accountId, url);
  first.webhooks.test(accountId, webhook_id, () => null);
  expect(first.store.claimDelivery(clock.now(), [])?.delivery.type).toBe("webhook.test");
  return { clock, first, sent, accountId, webhook_id };
}

test("what a process was sending when it was killed is sent by the next one", async () => {
  await withDirectory(async (dataDir) => {
    const { clock, first, sent } = midway(dataDir);
    await first.deliver();
    expect(sent).toHaveLength(0);
    await first.close();
    const next = world({ clock, dataDir });
    expect(next.store.reapDeliveries()).toBe(1);
    await next.deliver();
    expect(sent).toHaveLength(1);
  });
});

test("what a process was sending when it was killed is not sent to a webhook that was disabled meanwhile", async () => {
  await withDirectory(async (dataDir) => {
    const { clock, first, sent, accountId, webhook_id } = midway(dataDir);
    first.webhooks.change(accountId, webhook_id, { enabled: false }, () => null);
    await first.close();
    const next = world({ clock, dataDir });
    expect(next.store.reapDeliveries()).toBe(1);
    await next.deliver();
    expect(sent).toHaveLength(0);
    expect(next.deliveries(accountId, webhook_id)).toMatchObject([
      { state: "failed", error: "webhook_disabled", next_attempt_at: null },
    ]);
  });
});

test("each change of a job's state is emitted once, in the transaction of the change", async () => {
  const { url, sent } = receiver(() => new Response());
  const w = world();
  const accountId = w.account();
  const all = w.create(accountId, url);
  const some = w.create(accountId, `${url}-some`, ["job.failed"]);
  const jobId = job(w.store, accountId);
  const change = (from: JobStatus, status: JobStatus) => w.store.changeJob(jobId, [from], { status });
  change("running", "paused");
  change("paused", "running");
  change("running", "paused");
  change("paused", "completed");
  expect(change("running", "failed")).toBeNull();
  w.store.changeJob(jobId, ["completed"], { erasedAt: 5 });
  expect(w.deliveries(accountId, some.webhook_id)).toEqual([]);
  await w.deliver();
  const types = w.deliveries(accountId, all.webhook_id).map(({ type }) => type);
  expect(types.sort()).toEqual(["job.completed", "job.paused", "job.paused"]);
  const completed = sent.map(({ body }) => JSON.parse(body)).find(({ type }) => type === "job.completed");
  expect(completed.data).toEqual({
    job_id: jobId,
    kind: "email",
    name: "list",
    status: "completed",
    status_reason: null,
    counts: { rows: 3, distinct: 2, processed: 3 },
    units_charged: 2,
  });
  const failing = job(w.store, accountId);
  w.store.changeJob(failing, ["running"], { status: "failed" });
  const cancelled = job(w.store, accountId);
  w.store.changeJob(cancelled, ["running"], { status: "cancelled" });
  expect(w.deliveries(accountId, some.webhook_id).map(({ type }) => type)).toEqual(["job.failed"]);
  expect(w.deliveries(accountId, all.webhook_id)).toHaveLength(5);
});

test("a job's own address gets events, too, signed with the first secret of the account", async () => {
  const { url, sent } = receiver(({ path }) => new Response(null, { status: path === "/hook" ? 200 : 410 }));
  const w = world({ clock: handClock(new Date().toISOString()) });
  const accountId = w.account();
  const first = w.create(accountId, url, ["job.failed"]);
  w.clock.advance(1);
  w.create(accountId, url, ["job.failed"]);
  w.store.changeJob(job(w.store, accountId, `${url}/once`), ["running"], { status: "completed" });
  await w.deliver();
  const [only] = sent;
  expect([sent.length, only?.path]).toEqual([1, "/hook/once"]);
  new Webhook(first.secret).verify(only?.body ?? "", only?.headers ?? {});
  expect(w.webhooks.list(accountId).data.map(({ enabled }) => enabled)).toEqual([true, true]);
});

test("410 disables the webhook and ends its pending deliveries; enabled again it gets new events", async () => {
  let status = 410;
  const { url, sent } = receiver(() => new Response(null, { status }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: false, disabled_reason: "gone" }]);
  w.store.changeJob(job(w.store, accountId), ["running"], { status: "completed" });
  w.clock.advance(2 * DAY_MS);
  await w.deliver();
  expect(sent).toHaveLength(1);
  expect(() => w.webhooks.test(accountId, webhook_id, () => null)).toThrow("disabled");
  status = 200;
  w.webhooks.change(accountId, webhook_id, { enabled: true }, () => null);
  w.store.changeJob(job(w.store, accountId), ["running"], { status: "completed" });
  await w.deliver();
  expect(sent).toHaveLength(2);
});

test("five days of failures disable the webhook, and the list has the reason", async () => {
  const { url } = receiver(() => new Response(null, { status: 503 }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  for (let day = 0; day < 6; day++) {
    expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: true, disabled_reason: null }]);
    w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliver();
    w.clock.advance(DAY_MS);
  }
  expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: false, disabled_reason: "failing" }]);
  const waiting = w.deliveries(accountId, webhook_id).filter((each) => each.next_attempt_at !== null);
  expect(waiting).toEqual([]);
});

test("a failing webhook is disabled by no jump of the clock, and its failures are of no time to come", async () => {
  const { url } = receiver(() => new Response(null, { status: 503 }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  const startedAt = w.clock.now();
  for (const jumpMs of [0, 30 * DAY_MS, -60 * DAY_MS, 30 * DAY_MS]) {
    w.clock.advance(jumpMs);
    for (let n = 0; n < 3; n += 1) w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliverer.start();
    await w.deliverer.idle();
    expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: true }]);
  }
  expect(w.clock.now()).toBe(startedAt);
  const [webhook] = w.webhooks.list(accountId).data;
  expect(Date.parse(webhook?.failing_since ?? "")).toBeLessThanOrEqual(startedAt);
});

test("a webhook without events for weeks, behind a success or a failure, is not disabled by the next failure", async () => {
  let status = 200;
  const { url } = receiver(() => new Response(null, { status }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  const send = async () => {
    w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliver();
  };
  await send();
  status = 503;
  for (let event = 0; event < 2; event += 1) {
    w.clock.advance(14 * DAY_MS);
    await send();
    expect(w.webhooks.list(accountId).data).toMatchObject([{ enabled: true }]);
    for (const delayMs of event === 0 ? RETRY_DELAYS_MS : []) {
      w.clock.advance(delayMs);
      await w.deliver();
    }
  }
  expect(w.deliveries(accountId, webhook_id).at(1)).toMatchObject({ state: "failed", attempts: 10 });
});

test("during a rotation both secrets sign; after the overlap the new one alone", async () => {
  const { url, sent } = receiver(() => new Response());
  const w = world({ clock: handClock(new Date().toISOString()) });
  const accountId = w.account();
  const { webhook_id, secret } = w.create(accountId, url);
  const rotated = w.webhooks.rotateSecret(accountId, webhook_id, 60, () => null);
  for (const waitMs of [0, 60_000]) {
    w.clock.advance(waitMs);
    w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliver();
  }
  const [during, after] = sent.map(({ headers, body }) => ({ headers, body }));
  if (during === undefined || after === undefined) throw new Error("not sent");
  for (const each of [secret, rotated.secret]) new Webhook(each).verify(during.body, during.headers);
  new Webhook(rotated.secret).verify(after.body, after.headers);
  expect(() => new Webhook(secret).verify(after.body, after.headers)).toThrow();
});

test("a replay sends the same event again, from the beginning of the schedule", async () => {
  const { url, sent } = receiver((_, count) => new Response(null, { status: count === 2 ? 500 : 200 }));
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  const { delivery_id } = w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  w.webhooks.replay(accountId, webhook_id, delivery_id, () => null);
  await w.deliver();
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ attempts: 2, state: "pending" }]);
  w.clock.advance(5_000);
  await w.deliver();
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ attempts: 3, state: "delivered" }]);
  expect(new Set(sent.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("receivers that hang use up their account's share, and delay no other account", async () => {
  const gate = Promise.withResolvers<void>();
  const hanging = receiver(async () => {
    await gate.promise;
    return new Response();
  });
  const quick = receiver(() => new Response());
  const w = world();
  const slow = w.account();
  const other = w.account();
  const { webhook_id } = w.create(slow, hanging.url);
  for (let n = 0; n < 20; n++) w.webhooks.test(slow, webhook_id, () => null);
  await w.deliverer.pump();
  expect(w.deliverer.inFlight()).toBe(2);
  const theirs = w.create(other, quick.url);
  w.webhooks.test(other, theirs.webhook_id, () => null);
  await w.deliverer.pump();
  while (w.deliveries(other, theirs.webhook_id)[0]?.state !== "delivered") {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(w.deliverer.inFlight()).toBe(2);
  gate.resolve();
  await w.deliverer.idle();
  expect(hanging.sent).toHaveLength(20);
});

test("accounts whose receivers hang, enough to have all attempts under way, delay no other account", async () => {
  const gate = Promise.withResolvers<void>();
  const hanging = receiver(async () => {
    await gate.promise;
    return new Response();
  });
  const quick = receiver(() => new Response());
  const w = world();
  const hang = () => {
    const accountId = w.account();
    const { webhook_id } = w.create(accountId, hanging.url);
    for (let n = 0; n < 5; n++) w.webhooks.test(accountId, webhook_id, () => null);
  };
  for (let n = 0; n < 4; n++) hang();
  await w.deliverer.pump();
  expect(w.deliverer.inFlight()).toBe(8);
  const other = w.account();
  const theirs = w.create(other, quick.url);
  for (let n = 0; n < 3; n++) w.webhooks.test(other, theirs.webhook_id, () => null);
  await w.deliverer.pump();
  const isDone = () => w.deliveries(other, theirs.webhook_id).every(({ state }) => state === "delivered");
  while (!isDone()) await nextTurn();
  for (let n = 0; n < 6; n++) hang();
  await w.deliverer.pump();
  expect(w.deliverer.inFlight()).toBe(12);
  gate.resolve();
  await w.deliverer.idle();
  expect(hanging.sent).toHaveLength(50);
});

/** A world in which the receivers of as many accounts as there are attempts have hung once, and are asked again. */
async function hungWorld() {
  const gates = [Promise.withResolvers<void>()];
  const hanging = receiver(async () => {
    await gates.at(-1)?.promise;
    return new Response(null, { status: 500 });
  });
  const quick = receiver(() => new Response());
  const w = world();
  const hung = Array.from({ length: 12 }, () => {
    const accountId = w.account();
    const { webhook_id } = w.create(accountId, hanging.url);
    w.webhooks.test(accountId, webhook_id, () => null);
    return { accountId, webhook_id };
  });
  const open = async () => {
    gates.at(-1)?.resolve();
    await w.deliverer.idle();
    gates.push(Promise.withResolvers<void>());
  };
  closing.push(open);
  await w.deliverer.pump();
  await untilSent(hanging.sent, 12);
  w.clock.advance(5_000);
  await open();
  return { w, hung, hanging, quick, open };
}

async function untilSent(sent: readonly Sent[], count: number): Promise<void> {
  while (sent.length < count) await nextTurn();
}

test("accounts whose receivers hung have half of the attempts, one each, and delay no other account", async () => {
  const { w, hung, hanging, quick, open } = await hungWorld();
  for (const { accountId, webhook_id } of hung) {
    for (let n = 0; n < 3; n++) w.webhooks.test(accountId, webhook_id, () => null);
  }
  const before = hanging.sent.length;
  await w.deliverer.pump();
  expect(w.deliverer.inFlight()).toBe(6);
  await untilSent(hanging.sent, before + 6);
  const other = w.account();
  const theirs = w.create(other, quick.url);
  for (let n = 0; n < 20; n++) w.webhooks.test(other, theirs.webhook_id, () => null);
  await w.deliverer.pump();
  await untilSent(quick.sent, 20);
  expect(w.deliverer.inFlight()).toBeGreaterThanOrEqual(6);
  await open();
  await w.deliver();
  // What is due of them is sent in the end, all of it.
  expect(hanging.sent.length).toBe(before + 36);
});

test("webhooks take turns: one with many deliveries waits for the others after each", () => {
  const w = world();
  const many = w.account();
  const few = w.account();
  const { webhook_id } = w.create(many, "https://many.example/");
  for (let n = 0; n < 5; n++) w.webhooks.test(many, webhook_id, () => null);
  w.clock.advance(10);
  const theirs = w.create(few, "https://few.example/");
  w.webhooks.test(few, theirs.webhook_id, () => null);
  w.clock.advance(10);
  const order = [1, 2, 3].map(() => w.store.claimDelivery(w.clock.now(), [])?.delivery.accountId);
  expect(order).toEqual([many, few, many]);
});

test("a redirect is a failure that is not followed", async () => {
  const { url, sent } = receiver(
    () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }),
  );
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  expect(sent).toHaveLength(1);
  expect(w.deliveries(accountId, webhook_id)).toMatchObject([{ status: 302, state: "pending" }]);
});

test.each(["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])(
  "a name that leads to %s is never connected to, though another of its addresses is public",
  async (address) => {
    let lookups = 0;
    const w = world({
      allowPrivate: false,
      lookUp: async () => {
        lookups += 1;
        return { ok: true, addresses: ["8.8.8.8", address] };
      },
    });
    const accountId = w.account();
    const { webhook_id } = w.create(accountId, "https://hooks.example.com/");
    w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliver();
    expect(lookups).toBe(1);
    expect(w.deliveries(accountId, webhook_id)).toMatchObject([
      { status: null, error: "private_address", state: "pending" },
    ]);
  },
);

test("the certificate is verified for the name", async () => {
  using server = await startRawServer((socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"), "good");
  const outcomes: unknown[] = [];
  for (const host of ["good.example", "other.example"]) {
    const w = world({ ca: certificate("ca.pem") });
    const accountId = w.account();
    const { webhook_id } = w.create(accountId, `https://${host}:${server.port}/`);
    w.webhooks.test(accountId, webhook_id, () => null);
    await w.deliver();
    outcomes.push(w.deliveries(accountId, webhook_id).map(({ status, error }) => status ?? error));
  }
  expect(outcomes).toEqual([[204], ["certificate_invalid"]]);
});

test("deliveries are kept for 30 days", async () => {
  const { url } = receiver(() => new Response());
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, url);
  w.webhooks.test(accountId, webhook_id, () => null);
  await w.deliver();
  w.clock.advance(30 * DAY_MS);
  expect(w.store.removeDeliveries(w.clock.now() - 30 * DAY_MS, 100)).toBe(0);
  expect(w.deliveries(accountId, webhook_id)).toHaveLength(1);
  w.clock.advance(1);
  expect(w.deliveries(accountId, webhook_id)).toHaveLength(0);
  expect(w.store.removeDeliveries(w.clock.now() - 30 * DAY_MS, 100)).toBe(1);
});

test("all deliveries of more than 30 days are removed, however many there are", async () => {
  const w = world();
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, "https://a.example/");
  const webhook = w.store.findWebhook(accountId, webhook_id);
  if (webhook === null) throw new Error("no webhook");
  const event = { type: "job.failed", at: w.clock.now(), data: {} };
  for (let n = 0; n < 1_200; n += 1) w.store.addDelivery(webhook, event, () => null);
  w.webhooks.change(accountId, webhook_id, { enabled: false }, () => null);
  w.clock.advance(30 * DAY_MS + 1);
  await w.deliverer.start();
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(w.store.removeDeliveries(w.clock.now() - 30 * DAY_MS, 2_000)).toBe(0);
});

test("to receivers that hang, fail, redirect, change their DNS or are gone, nothing is sent twice, elsewhere or early", async () => {
  await withDirectory(async (dataDir) => {
    const kinds = ["hangs", "fails", "redirects", "flips", "gone", "works"] as const;
    const sent = new Map<string, number>();
    const elsewhere: string[] = [];
    const gate = Promise.withResolvers<void>();
    const answers: { readonly [kind: string]: () => Response | Promise<Response> } = {
      async hangs() {
        await gate.promise;
        return new Response();
      },
      fails: () => new Response("no", { status: 500 }),
      redirects: () => new Response(null, { status: 307, headers: { location: "http://169.254.169.254/" } }),
      flips: () => new Response("no", { status: 500 }),
      gone: () => new Response(null, { status: 410 }),
      works: () => new Response(),
    };
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 60,
      fetch(request) {
        const kind = new URL(request.url).hostname.split(".")[0] ?? "";
        sent.set(kind, (sent.get(kind) ?? 0) + 1);
        return answers[kind]?.() ?? new Response(null, { status: 404 });
      },
    });
    const trap = Bun.serve({
      port: server.port ?? 0,
      hostname: "127.0.0.2",
      fetch(request) {
        elsewhere.push(request.url);
        return new Response();
      },
    });
    closing.push(
      () => trap.stop(true),
      () => server.stop(true),
    );
    const asked: string[] = [];
    // The first answer of each attempt is harmless, any other leads elsewhere.
    const lookUp: AddressLookup = async (name) => {
      asked.push(name);
      const isFirst = asked.filter((other) => other === name).length === 1;
      return { ok: true, addresses: [isFirst ? "127.0.0.1" : "127.0.0.2"] };
    };
    const clock = handClock();
    let w = world({ clock, dataDir, lookUp, totalTimeoutMs: 3_000 });
    const accountId = w.account();
    const hooks = kinds.map((kind) => w.create(accountId, `http://${kind}.example:${server.port}/`));
    for (const { webhook_id } of hooks) w.webhooks.test(accountId, webhook_id, () => null);
    const rounds: unknown[] = [];
    for (const delayMs of [0, ...RETRY_DELAYS_MS.slice(0, 2)]) {
      w.store.reapDeliveries();
      if (delayMs > 0) {
        clock.advance(delayMs - 1);
        await w.deliver();
        expect(asked).toEqual([]);
        clock.advance(1);
      }
      await w.deliver();
      rounds.push(asked.splice(0).map((name) => name.split(".")[0]));
      await w.close();
      w = world({ clock, dataDir, lookUp, totalTimeoutMs: 3_000 });
    }
    const again = ["hangs", "fails", "redirects", "flips"];
    expect(rounds.map((names) => (names as string[]).toSorted())).toEqual([
      [...kinds].toSorted(),
      ...RETRY_DELAYS_MS.slice(0, 2).map(() => again.toSorted()),
    ]);
    expect(elsewhere).toEqual([]);
    expect(Object.fromEntries(sent)).toEqual({
      hangs: 3,
      fails: 3,
      redirects: 3,
      flips: 3,
      gone: 1,
      works: 1,
    });
    const last = hooks.map(({ webhook_id }) => w.deliveries(accountId, webhook_id)[0]);
    expect(last.map((delivery) => [delivery?.attempts, delivery?.status ?? delivery?.error])).toEqual([
      [3, expect.stringMatching(/timeout/)],
      [3, 500],
      [3, 307],
      [3, 500],
      [1, 410],
      [1, 200],
    ]);
    gate.resolve();
  });
});

test("attempts that fail at once leave turns of the event loop to other work", async () => {
  const w = world({ lookUp: async () => ({ ok: false, reason: "dns_not_found" }) });
  const accountId = w.account();
  const { webhook_id } = w.create(accountId, "http://nowhere.example/hook");
  for (let n = 0; n < 50; n++) w.webhooks.test(accountId, webhook_id, () => null);
  let turns = 0;
  let timer = setImmediate(function count() {
    turns += 1;
    timer = setImmediate(count);
  });
  await w.deliver();
  clearImmediate(timer);
  expect(w.deliverer.stats()).toMatchObject({ retried: 50 });
  expect(turns).toBeGreaterThanOrEqual(50);
});
