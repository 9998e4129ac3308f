import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createSilenceWatch } from "../../src/inference/silence-watch.ts";
import { startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import { until } from "../support/caller.ts";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";

setDefaultTimeout(60_000);

const CHAT = "/v1/chat/completions";

/** Whether the upstream replies at all. */
let isHung = false;
const behind = startMadeUpChat();
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch(request) {
    if (isHung) return new Promise<Response>(() => {});
    return fetch(behind.url.replace("/v1", "") + new URL(request.url).pathname, request);
  },
});

let world: InferenceWorld;
beforeAll(async () => {
  world = await openInferenceWorld({
    INFERENCE_UPSTREAM: `${upstream.url.origin}/v1`,
    INFERENCE_TIMEOUT_SECONDS: "2",
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await upstream.stop(true);
  behind[Symbol.dispose]();
});

/** Pays for a call; returns the status, and the milliseconds it took. */
async function timedCall(user: string): Promise<{ readonly status: number; readonly ms: number }> {
  const messages = [{ role: "user", content: "Hello" }];
  const begunMs = performance.now();
  const response = await world.pay(CHAT, { model: "made-up-1", messages, user });
  await response.text();
  return { status: response.status, ms: performance.now() - begunMs };
}

test("calls to a hung only upstream fail at once, until it replies again", async () => {
  expect((await timedCall("before")).status).toBe(200);
  isHung = true;
  const waiting = await Promise.all(Array.from({ length: 5 }, (_, at) => timedCall(`hung ${at}`)));
  expect(waiting.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
  await until(
    "a call that is refused at once",
    async () => {
      const { status, ms } = await timedCall(`asked ${performance.now()}`);
      expect(status).toBe(502);
      return ms < 1000;
    },
    40_000,
  );
  isHung = false;
  await until(
    "a call that is answered",
    async () => {
      return (await timedCall(`back ${performance.now()}`)).status === 200;
    },
    40_000,
  );
  expect(world.facilitator.settled.size).toBe(2);
});

test("calls that an upstream fails, while it replies to questions of our own, are no silence", async () => {
  let questions = 0;
  await using watch = createSilenceWatch(
    async () => {
      questions += 1;
      return true;
    },
    { betweenMs: 1 },
  );
  for (let failed = 0; failed < 10; failed += 1) {
    watch.suspect();
    await until("question", () => questions > failed);
    expect(watch.isSilent()).toBe(false);
  }
  expect(questions).toBe(10);
});

test("one question without a reply is no silence, two are, and an answered call ends it", async () => {
  let questions = 0;
  await using watch = createSilenceWatch(
    async () => {
      questions += 1;
      return false;
    },
    { betweenMs: 1 },
  );
  watch.suspect();
  watch.suspect();
  expect([questions, watch.isSilent()]).toEqual([1, false]);
  await until("silence", () => watch.isSilent());
  expect(questions).toBeGreaterThan(1);
  watch.noteReply();
  expect(watch.isSilent()).toBe(false);
});
