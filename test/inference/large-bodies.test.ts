import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readChatRequest } from "../../src/inference/chat-request.ts";
import { atOnce, createSteps } from "../../src/platform/steps.ts";
import { until } from "../support/caller.ts";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";

/** What calls may take that nobody has paid for. */

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const BODY_BYTES = 4_000_000;
const BODY = JSON.stringify({
  model: "m",
  messages: [{ role: "user", content: 'a "word"\n'.repeat(BODY_BYTES / 12) }],
});
let world: InferenceWorld;

beforeAll(async () => {
  world = await openInferenceWorld({ TRUST_PROXY: "true" });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

function send(
  address: string,
  body: string | ReadableStream<Uint8Array>,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const headers = { "Content-Type": "application/json", "X-Forwarded-For": address };
  return fetch(`${world.url}${CHAT}`, { method: "POST", headers, body, signal });
}

test("one caller's bodies take a part of the room for all, and nothing of it once they are gone", async () => {
  const leaving = new AbortController();
  const unfinished = () =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(BODY.slice(0, -1))),
    });
  const slow = Array.from({ length: 5 }, () => send("192.0.2.1", unfinished(), leaving.signal));
  const refused = await Promise.any(slow);
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('"overloaded"');
  expect((await send("192.0.2.1", BODY)).status).toBe(503);
  expect((await send("192.0.2.2", BODY)).status).toBe(402);
  leaving.abort();
  await Promise.allSettled(slow);
  await until("room", async () => (await send("192.0.2.1", BODY)).status === 402);
});

test("a body is read the same in steps, wherever they are cut", async () => {
  const bytes = new TextEncoder().encode(BODY);
  for (const start of [0, 1, 2]) {
    const shifted = Buffer.concat([Buffer.from(" ".repeat(start)), bytes]);
    const read = await readChatRequest(shifted, createSteps(performance.now.bind(performance)));
    expect(read).toEqual(await readChatRequest(shifted, atOnce));
    expect(read.ok && read.request.messages[0]?.content).toBe('a "word"\n'.repeat(BODY_BYTES / 12));
  }
  const many = `{"model":"m","messages":[${'{"role":"user"},'.repeat(70_000)}{}]}`;
  const read = await readChatRequest(Buffer.from(many), atOnce);
  expect(read).toMatchObject({ ok: false, message: "The body must hold at most 65536 values." });
});
