import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";

/** What /health of a paid service says of the parts that its calls need. */

setDefaultTimeout(30_000);

const BODY = { model: "made-up-1", messages: [{ role: "user", content: "hi" }] };
const NOBODY = "http://127.0.0.1:1";
/** Past what is answered from what was found before. */
const LATER_MS = 6000;

type Health = {
  readonly status: string;
  readonly checks: { readonly [part: string]: { readonly status: string; readonly observed: number | null } };
};

/** Returns the status of the reply, what it says of the whole, and of parts. */
async function healthOf(world: InferenceWorld, ...parts: readonly string[]) {
  const reply = await fetch(`${world.url}/health`);
  const { status, checks } = (await reply.json()) as Health;
  return [reply.status, status, ...parts.map((part) => checks[part]?.status)];
}

async function later(world: InferenceWorld, ...parts: readonly string[]) {
  world.pass(LATER_MS);
  return healthOf(world, ...parts);
}

const PARTS = ["database", "facilitator", "upstreams"] as const;

test("a service whose calls can be paid and answered is healthy", async () => {
  await using world = await openInferenceWorld();
  expect(await healthOf(world, ...PARTS, "disk")).toEqual([200, "healthy", "pass", "pass", "pass", "pass"]);
});

test("a facilitator that cannot be reached is degraded at first, and then failing, until it replies", async () => {
  await using world = await openInferenceWorld();
  world.facilitator.setFault(() => new Response("", { status: 500 }));
  expect(await healthOf(world, ...PARTS)).toEqual([200, "degraded", "pass", "warn", "pass"]);
  expect(await later(world, ...PARTS)).toEqual([503, "failing", "pass", "fail", "pass"]);
  world.facilitator.setFault(() => new Response("", { status: 429 }));
  expect(await later(world, ...PARTS)).toEqual([200, "healthy", "pass", "pass", "pass"]);
});

test("an upstream that never answered does not pass, and without any the service fails", async () => {
  await using world = await openInferenceWorld({ INFERENCE_UPSTREAM: NOBODY, X402_FACILITATOR: NOBODY });
  expect(await healthOf(world, ...PARTS)).toEqual([200, "degraded", "pass", "warn", "warn"]);
  expect(await later(world, ...PARTS)).toEqual([503, "failing", "pass", "fail", "fail"]);
});

test("one of two upstreams that is gone is degraded, and one that answers calls may leave questions", async () => {
  const busy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (request.method === "GET") return new Promise<Response>(() => undefined);
      return fetch(`${world.upstream.url}/chat/completions`, { method: "POST", body: await request.text() });
    },
  });
  const world = await openInferenceWorld({ INFERENCE_UPSTREAM: `${busy.url.origin},${NOBODY}` });
  expect((await world.pay("/v1/chat/completions", BODY)).status).toBe(200);
  await later(world);
  expect(await later(world, "upstreams")).toEqual([200, "degraded", "warn"]);
  await world[Symbol.asyncDispose]();
  await busy.stop(true);
});

for (const [what, file, part] of [
  ["a journal", "payments.db", "database"],
  ["a ledger of receipts", "inference.db", "receipts"],
] as const) {
  test(`${what} that cannot be written fails, and is truly written to`, async () => {
    await using world = await openInferenceWorld();
    using database = new Database(join(world.dataDir, file));
    const version = () => database.query("PRAGMA data_version").get();
    for (const _ of ["first", "second"]) {
      const before = version();
      expect(await later(world, part)).toEqual([200, "healthy", "pass"]);
      expect(version()).not.toEqual(before);
    }
    database.run("BEGIN IMMEDIATE");
    expect(await later(world, part)).toEqual([503, "failing", "fail"]);
    database.run("COMMIT");
    expect(await later(world, part)).toEqual([200, "healthy", "pass"]);
  });
}

test("however many ask, a facilitator that hangs is asked one question, and the answer does not wait for it", async () => {
  await using world = await openInferenceWorld();
  let questions = 0;
  world.facilitator.setFault(() => {
    questions += 1;
    return new Promise<Response>(() => undefined);
  });
  const startedMs = performance.now();
  for (let second = 0; second < 4; second += 1) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => healthOf(world, "facilitator", "upstreams")),
    );
    expect(new Set(answers.map(String))).toEqual(new Set(["200,degraded,warn,pass"]));
    world.pass(1000);
  }
  expect(questions).toBeLessThanOrEqual(2);
  // Each answer waits a second; the question takes three before it is given up.
  expect(performance.now() - startedMs).toBeLessThan(8000);
});
