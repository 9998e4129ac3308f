import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { encryptText } from "../../src/billing/encryption.ts";
import { createTasks } from "../../src/inference/tasks.ts";
import type { PaidCall, PaidReply, Payment } from "../../src/payments/paid-call.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";
import { handClock } from "../billing/accounting.ts";
import { until } from "../support/caller.ts";
import { temporaryFolder } from "../support/process.ts";

const PAYMENT: Payment = {
  ...{ paymentId: "payment_1", x402Version: 2, network: "eip155:8453", payer: "0xa", payTo: "0xb" },
  ...{ asset: "0xc", amountMicroUsd: 10_000, nonce: "0xd" },
};
const SECRET = "a".repeat(64);
const DONE: PaidReply = { status: 200, headers: {}, body: '{"id":"chatcmpl-1"}' };

const refusal = (status: number, code: string): PaidReply => ({
  status,
  headers: {},
  body: JSON.stringify({ error: { code, message: "Later." } }),
});

const callTo = (url: string): Pick<PaidCall, "offer" | "headers" | "request"> => ({
  headers: new Headers(),
  offer: { resource: { url, description: "", mimeType: "" }, priceMicroUsd: 10_000 },
  request: "call",
});

/** Tasks whose payments have these replies, one after the other, each after its work. Pauses pass at once. */
function openTasks(replies: PaidReply[], dataDir: string | null = null) {
  const clock = handClock();
  const database = openInferenceDatabase(dataDir, clock);
  const waits: number[] = [];
  const problems: unknown[] = [];
  const work: PaidCall["work"] = async () => ({ kind: "answer", status: 200, headers: {}, body: "{}" });
  const tasks = createTasks({
    store: database.tasks,
    payments: {
      async take(call) {
        await call.work(PAYMENT);
        return replies.shift() ?? DONE;
      },
    },
    clock,
    secret: SECRET,
    reportError: (error) => problems.push(error),
    async pause(ms) {
      waits.push(ms / 1_000);
      clock.advance(ms);
    },
    workOf: () => ({ work }),
    statusUrlOf: (_call, taskId) => taskId,
  });
  return {
    tasks,
    waits,
    problems,
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
  await using world = openTasks(replies);
  const taskId = await world.end(callTo("http://localhost/"));
  expect(world.problems).toEqual([]);
  expect(world.waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 2, 2, 2]);
  expect(world.tasks.find(taskId)?.status).toBe("done");
});

test("a task goes on where its payment is in use, and fails where the upstream refuses it with the same status", async () => {
  const inUse = refusal(409, "payment_in_use");
  await using world = openTasks([inUse, inUse, refusal(409, "invalid_request"), DONE]);
  const taskId = await world.end(callTo("http://localhost/"));
  expect(world.waits).toEqual([2]);
  expect(world.tasks.find(taskId)).toMatchObject({ status: "failed", error: { code: "invalid_request" } });
});

test("no two texts of a task have one key, though it runs again in the same millisecond", async () => {
  using folder = temporaryFolder("tasks");
  await using world = openTasks([refusal(502, "upstream_failed"), DONE], folder.path);
  using database = new Database(join(folder.path, "inference.db"));
  database.run("CREATE TABLE seen (text TEXT)");
  for (const change of ["INSERT", "UPDATE"]) {
    database.run(
      `CREATE TRIGGER seen_${change} AFTER ${change} ON tasks BEGIN INSERT INTO seen VALUES (NEW.sealed), (NEW.answer); END`,
    );
  }
  const taskId = await world.end(callTo("http://localhost/1"));
  expect(world.tasks.find(taskId)?.status).toBe("failed");
  expect(await world.end(callTo("http://localhost/2"))).toBe(taskId);
  expect(world.tasks.find(taskId)).toMatchObject({ status: "done", answer: { id: "chatcmpl-1" } });
  const texts = database.query("SELECT text FROM seen WHERE text IS NOT NULL").all() as { text: string }[];
  // Two calls and two answers, which begin alike: with one key their first bytes are the same.
  expect(texts.length).toBe(4);
  expect(new Set(texts.map(({ text }) => text.slice(0, 4))).size).toBe(4);
});

test("tasks whose texts were encrypted by a former version are continued, and read", async () => {
  using folder = temporaryFolder("tasks");
  await using world = openTasks([], folder.path);
  using database = new Database(join(folder.path, "inference.db"));
  const { offer, request } = callTo("http://localhost/");
  const call = encryptText(JSON.stringify({ offer, request, headers: {} }), SECRET, "call task_1");
  const answer = encryptText('{"id":"chatcmpl-0"}', SECRET, "answer task_2");
  const insert = database.query("INSERT INTO tasks VALUES (?, ?, ?, ?, 1, 1, 9e12)");
  insert.run("task_1", "running", call, null);
  insert.run("task_2", "done", null, answer);
  world.tasks.start();
  await until("the end of the task", () => world.tasks.running() === 0);
  expect(world.tasks.find("task_1")).toMatchObject({ status: "done", answer: { id: "chatcmpl-1" } });
  expect(world.tasks.find("task_2")).toMatchObject({ status: "done", answer: { id: "chatcmpl-0" } });
  expect(world.problems).toEqual([]);
});
