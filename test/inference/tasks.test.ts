import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { encryptText } from "../../src/billing/encryption.ts";
import { createFairShares } from "../../src/billing/fair-shares.ts";
import { createTasks } from "../../src/inference/tasks.ts";
import type { PaidCall, PaidReply, Payment } from "../../src/payments/paid-call.ts";
import { createSteps } from "../../src/platform/steps.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import type { TaskStore } from "../../src/store/task-port.ts";
import { handClock } from "../billing/accounting.ts";
import { until } from "../support/caller.ts";
import { temporaryFolder } from "../support/process.ts";

const PAYMENT: Payment = {
  ...{ paymentId: "payment_1", x402Version: 2, network: "eip155:8453", payer: "0xa", payTo: "0xb" },
  ...{ asset: "0xc", amountMicroUsd: 10_000, nonce: "0xd" },
};
const MEGABYTE = 1_048_576;
/** Half of it is one payer's, or one client address's. */
const ROOM_BYTES = 8 * MEGABYTE;
const SECRET = "a".repeat(64);
const DONE: PaidReply = { status: 200, headers: {}, body: '{"id":"chatcmpl-1"}' };

const refusal = (status: number, code: string): PaidReply => ({
  status,
  headers: {},
  body: JSON.stringify({ error: { code, message: "Later." } }),
});

const callTo = (
  url: string,
  { request = "call", payer = "0xa", tenant = "192.0.2.1" } = {},
): Pick<PaidCall, "offer" | "headers" | "request" | "tenant"> => ({
  tenant,
  headers: new Headers({ "X-Payment": payer }),
  offer: { resource: { url, description: "", mimeType: "" }, priceMicroUsd: 10_000 },
  request,
});

type Replies = (call: PaidCall) => PaidReply | Promise<PaidReply>;

type TaskOptions = {
  readonly dataDir?: string | null;
  /** What of the store fails. */
  readonly broken?: (store: TaskStore) => Partial<TaskStore>;
  /** What a pause waits for, beside its time. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
};

/** Returns one reply after the other, and at last the answer. */
function inOrder(...replies: PaidReply[]): Replies {
  return () => replies.shift() ?? DONE;
}

/** Tasks whose payments have these replies, each after its work. Each request has a payment; pauses pass at once. */
function openTasks(replyTo: Replies, { dataDir = null, broken, pause }: TaskOptions = {}) {
  const clock = handClock();
  const database = openInferenceDatabase(dataDir, clock);
  const waits: number[] = [];
  const problems: unknown[] = [];
  const work: PaidCall["work"] = async () => ({ kind: "answer", status: 200, headers: {}, body: "{}" });
  const tasks = createTasks({
    store: { ...database.tasks, ...broken?.(database.tasks) },
    payments: {
      async take(call) {
        await call.work({ ...PAYMENT, paymentId: call.request, payer: call.headers.get("x-payment") ?? "" });
        return await replyTo(call);
      },
    },
    clock,
    secret: SECRET,
    step: createSteps(() => performance.now()),
    room: createFairShares({ capacity: ROOM_BYTES, ratio: 1, guaranteed: 0 }),
    addressRoom: createFairShares({ capacity: ROOM_BYTES, ratio: 1, guaranteed: 0 }),
    reportError: (error) => problems.push(error),
    async pause(ms, signal) {
      waits.push(ms / 1_000);
      clock.advance(ms);
      await pause?.(signal);
    },
    workOf: () => ({ work }),
    statusUrlOf: (_call, taskId) => taskId,
  });
  const found = async (taskId: string) => JSON.parse((await tasks.find(taskId, "192.0.2.1")) ?? "{}");
  return {
    tasks,
    clock,
    waits,
    problems,
    work,
    found,
    statusOf: async (taskId: string) => (await found(taskId)).status,
    /** Takes a call and returns the id of its task, once that has ended. */
    async end(call: ReturnType<typeof callTo>): Promise<string> {
      const { body } = await tasks.take({ ...call, work });
      await until("the end of the task", () => tasks.running() === 0);
      return (JSON.parse(String(body)) as { task_id: string }).task_id;
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]();
      database[Symbol.dispose]();
    },
  };
}

test("a task whose payment has no known outcome waits twice as long for each try, up to five minutes", async () => {
  const [unknown, busy] = [refusal(503, "settlement_unknown"), refusal(503, "overloaded")];
  const replies = [...Array<PaidReply>(10).fill(unknown), busy, busy, unknown, DONE];
  await using world = openTasks(inOrder(...replies));
  const taskId = await world.end(callTo("http://localhost/"));
  expect(world.problems).toEqual([]);
  expect(world.waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 2, 2, 2]);
  expect(await world.statusOf(taskId)).toBe("done");
});

test("a task goes on where its payment is in use, and fails where the upstream refuses it with the same status", async () => {
  const inUse = refusal(409, "payment_in_use");
  await using world = openTasks(inOrder(inUse, inUse, refusal(409, "invalid_request")));
  const taskId = await world.end(callTo("http://localhost/"));
  expect(world.waits).toEqual([2]);
  expect(await world.found(taskId)).toMatchObject({ status: "failed", error: { code: "invalid_request" } });
});

/** Returns a function that fails a number of times before it does its work. */
function failing<Values extends unknown[], Result>(times: number, work: (...values: Values) => Result) {
  let left = times;
  return (...values: Values): Result => {
    left -= 1;
    if (left >= 0) throw new StorageError("the disk fails");
    return work(...values);
  };
}

test("a task goes on where its call or its payment cannot be read, or its end cannot be written", async () => {
  const busy = refusal(503, "overloaded");
  // Behind ten failures it is later than a task may be that waits for others.
  for (const { times, waits } of [
    { times: 2, waits: [2] },
    { times: 10, waits: [2, 4, 8, 16, 32, 64, 128, 256, 300] },
  ]) {
    for (const open of [
      () => openTasks(inOrder(busy), { broken: ({ callOf }) => ({ callOf: failing(times - 1, callOf) }) }),
      () => openTasks(failing(times, inOrder())),
      () => openTasks(inOrder(), { broken: ({ end }) => ({ end: failing(times, end) }) }),
    ]) {
      await using world = open();
      const taskId = await world.end(callTo("http://localhost/"));
      expect(await world.found(taskId)).toMatchObject({ status: "done", answer: { id: "chatcmpl-1" } });
      expect(world.waits).toEqual(waits);
      expect([...new Set(world.problems.map(String))]).toEqual(["StorageError: the disk fails"]);
    }
  }
});

test("no two texts of a task have one key, though it runs again in the same millisecond", async () => {
  using folder = temporaryFolder("tasks");
  await using world = openTasks(inOrder(refusal(502, "upstream_failed")), { dataDir: folder.path });
  using database = new Database(join(folder.path, "inference.db"));
  database.run("CREATE TABLE seen (text TEXT)");
  for (const change of ["INSERT", "UPDATE"]) {
    database.run(
      `CREATE TRIGGER seen_${change} AFTER ${change} ON tasks BEGIN INSERT INTO seen VALUES (NEW.sealed), (NEW.answer); END`,
    );
  }
  const taskId = await world.end(callTo("http://localhost/1"));
  expect(await world.statusOf(taskId)).toBe("failed");
  expect(await world.end(callTo("http://localhost/2"))).toBe(taskId);
  expect(await world.found(taskId)).toMatchObject({ status: "done", answer: { id: "chatcmpl-1" } });
  const texts = database.query("SELECT text FROM seen WHERE text IS NOT NULL").all() as { text: string }[];
  // Two calls and two answers, which begin alike: with one key their first bytes are the same.
  expect(texts.length).toBe(4);
  expect(new Set(texts.map(({ text }) => text.slice(0, 4))).size).toBe(4);
});

test("tasks whose texts were encrypted by a former version are continued, and read", async () => {
  using folder = temporaryFolder("tasks");
  await using world = openTasks(inOrder(), { dataDir: folder.path });
  using database = new Database(join(folder.path, "inference.db"));
  const { offer, request } = callTo("http://localhost/");
  const call = encryptText(JSON.stringify({ offer, request, headers: {} }), SECRET, "call task_1");
  const answer = encryptText('{"id":"chatcmpl-0"}', SECRET, "answer task_2");
  const insert = database.query("INSERT INTO tasks VALUES (?, ?, ?, ?, 1, 1, 9e12)");
  insert.run("task_1", "running", call, null);
  insert.run("task_2", "done", null, answer);
  world.tasks.start();
  await until("the end of the task", () => world.tasks.running() === 0);
  expect(await world.found("task_1")).toMatchObject({ status: "done", answer: { id: "chatcmpl-1" } });
  expect(await world.found("task_2")).toMatchObject({ status: "done", answer: { id: "chatcmpl-0" } });
  expect(world.problems).toEqual([]);
});

test("the calls of tasks are bounded in bytes and in number until they end, each payer and each address by its share, and refused before", async () => {
  const ofOne = { payerOf: () => "0xa", tenantOf: () => "192.0.2.1" };
  for (const { bytes, taken, payerOf, tenantOf } of [
    { ...ofOne, bytes: MEGABYTE, taken: 4 },
    { ...ofOne, bytes: 1, taken: 256 },
    // Wallets are cheap, and so are addresses to who has them.
    { ...ofOne, bytes: MEGABYTE, taken: 4, payerOf: (n: number) => `0xa${n}` },
    { ...ofOne, bytes: MEGABYTE, taken: 4, tenantOf: (n: number) => `198.51.100.${n}` },
  ]) {
    const outcome = Promise.withResolvers<void>();
    // The facilitator does not answer: half of them are in work, the others wait to be tried again.
    await using world = openTasks(
      async ({ request }) => {
        if (request.startsWith("0")) await outcome.promise;
        return refusal(503, "settlement_unknown");
      },
      { pause: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())) },
    );
    using end = new DisposableStack();
    end.defer(outcome.resolve);
    const take = (n: number, payer: string, tenant: string) => {
      const request = `${n % 2}${payer}${n} `.padEnd(bytes, "x");
      return world.tasks.take({
        ...callTo("http://localhost/", { request, payer, tenant }),
        work: world.work,
      });
    };
    for (let n = 0; n < taken; n += 1) expect((await take(n, payerOf(n), tenantOf(n))).status).toBe(202);
    await expect(take(taken, payerOf(taken), tenantOf(taken))).rejects.toMatchObject({ code: "overloaded" });
    expect((await take(0, "0xb", "192.0.2.2")).status).toBe(202);
    expect(world.problems).toEqual([]);
  }
});

test("a task that has ended leaves its room to others", async () => {
  await using world = openTasks(inOrder());
  for (let n = 0; n < 12; n += 1) {
    const call = callTo("http://localhost/", { request: `${n}`.padEnd(MEGABYTE, "x") });
    expect(await world.statusOf(await world.end(call))).toBe("done");
  }
});

/** Writes tasks that a former process has left. */
function leaveTasks(dataDir: string, count: number, requestLength: number): void {
  using database = new Database(join(dataDir, "inference.db"));
  const insert = database.query("INSERT INTO tasks VALUES (?, 'running', ?, NULL, ?, NULL, 9e12)");
  database.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const { offer, request } = callTo("http://localhost/", { request: `${n} `.padEnd(requestLength, "x") });
      const sealed = encryptText(JSON.stringify({ offer, request, headers: {} }), SECRET, `call task_${n}`);
      insert.run(`task_${n}`, sealed, n);
    }
  })();
}

test("a start continues all tasks that the former process left, however many", async () => {
  using folder = temporaryFolder("tasks");
  const requests = new Set<string>();
  await using world = openTasks(
    ({ request }) => {
      requests.add(request);
      return DONE;
    },
    { dataDir: folder.path },
  );
  leaveTasks(folder.path, 1_100, 10);
  world.tasks.start();
  await until("the end of the tasks", () => world.tasks.running() === 0, 60_000);
  expect(requests.size).toBe(1_100);
  expect(world.problems).toEqual([]);
});

test("of large calls a start holds 32 MB at a time, and none of a task that waits to be tried again", async () => {
  using folder = temporaryFolder("tasks");
  const outcome = Promise.withResolvers<void>();
  let held = 0;
  let heldMax = 0;
  await using world = openTasks(
    async ({ request }) => {
      held += 1;
      heldMax = Math.max(heldMax, held);
      await outcome.promise;
      held -= 1;
      return Number.parseInt(request, 10) < 32 ? refusal(503, "settlement_unknown") : DONE;
    },
    {
      dataDir: folder.path,
      pause: (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    },
  );
  using end = new DisposableStack();
  end.defer(outcome.resolve);
  leaveTasks(folder.path, 40, MEGABYTE);
  world.tasks.start();
  await until("32 MB of calls", () => held >= 32, 60_000);
  for (let turn = 0; turn < 100; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  outcome.resolve();
  await until("the end of those behind", () => world.tasks.running() === 32, 60_000);
  expect(heldMax).toBe(32);
  expect(world.problems).toEqual([]);
});

test("a task with a large answer is read a few times at once by each client address, and later again", async () => {
  const body = JSON.stringify({ id: "chatcmpl-1", text: "x".repeat(MEGABYTE), number: 1 }).replace(
    "1}",
    "1.0}",
  );
  await using world = openTasks(inOrder({ ...DONE, body }));
  const taskId = await world.end(callTo("http://localhost/"));
  const read = (tenant: string) => world.tasks.find(taskId, tenant);
  for (let reads = 0; reads < 2; reads += 1) expect(await read("192.0.2.1")).toContain(`"answer":${body},`);
  await expect(read("192.0.2.1")).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 1 });
  expect(JSON.parse((await read("192.0.2.2")) ?? "")).toMatchObject({ status: "done", error: null });
  world.clock.advance(1000);
  expect(await read("192.0.2.1")).toContain(`"answer":${body},`);
});
