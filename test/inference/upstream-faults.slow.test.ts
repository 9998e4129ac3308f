import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { Receipt } from "../../src/contract/receipt.ts";
import { createChoices, type JsonValue } from "../../src/inference/choices.ts";
import { readJws } from "../../src/signing/jws.ts";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";

/** What an upstream may do wrong; nothing of it costs the caller anything before the first token, or the server its memory. */

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const BODY = { model: "made-up-1", messages: [{ role: "user", content: "hi" }] };
const STREAM = { ...BODY, stream: true };
const GIGABYTE = 1_073_741_824;

type Upstream = Disposable & { readonly url: string };

let open: (Upstream | InferenceWorld)[] = [];
afterEach(async () => {
  for (const one of open) {
    if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
    else one[Symbol.dispose]();
  }
  open = [];
});

/** Starts a service before an upstream that answers each call like this. */
async function openBefore(
  answer: (request: Request) => Response | Promise<Response>,
): Promise<InferenceWorld> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: answer });
  const upstream = { url: `${server.url.origin}/v1`, [Symbol.dispose]: () => void server.stop(true) };
  const world = await openInferenceWorld({
    INFERENCE_UPSTREAM: upstream.url,
    INFERENCE_TIMEOUT_SECONDS: "1",
  });
  open.push(world, upstream);
  return world;
}

function eventOf(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
}

/** An event stream of these texts, and then of what `more` makes until it returns null; "hang" says nothing more. */
function streamOf(texts: readonly string[], more: (() => Uint8Array | null) | "hang" = () => null): Response {
  const waiting = [...texts];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = waiting.shift();
      if (text !== undefined) return controller.enqueue(Buffer.from(text));
      if (more === "hang") return new Promise<void>(() => {});
      const bytes = more();
      if (bytes === null) controller.close();
      else controller.enqueue(bytes);
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

/** Makes the same bytes again and again, up to a gigabyte, and counts them. */
function gigabyteOf(text: string) {
  const bytes = Buffer.from(text);
  const made = { bytes: 0 };
  return {
    made,
    more: (): Uint8Array | null => {
      if (made.bytes >= GIGABYTE) return null;
      made.bytes += bytes.length;
      return bytes;
    },
  };
}

async function expectFree(world: InferenceWorld, body: object): Promise<void> {
  const response = await world.pay(CHAT, body);
  expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
    502,
    "upstream_failed",
  ]);
  expect(world.facilitator.settled.size).toBe(0);
}

/** Reads a stream that was broken off; returns its length. The receipt is that of what came. */
async function expectBrokenOff(world: InferenceWorld): Promise<number> {
  const response = await world.pay(CHAT, STREAM);
  expect(response.status).toBe(200);
  const text = await response.text();
  const events = text.split("\n\n").filter((event) => event.startsWith("data: "));
  const chunks = events.map((event) => JSON.parse(event.slice("data: ".length)));
  const last = chunks.pop();
  expect(last.error.code).toBe("upstream_failed");
  const together = createChoices();
  for (const { choices = [] } of chunks) together.add(choices as JsonValue[]);
  const receipt = JSON.parse(readJws(last.receipt)?.payload ?? "null") as Receipt;
  expect(receipt.outcome).toBe("upstream_failed");
  const checked = await fetch(`${world.url}/v1/receipts/verify`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      receipt: last.receipt,
      ...(text.length < 1_000_000 ? { choices: together.all() } : {}),
    }),
  });
  expect(await checked.json()).toMatchObject({ valid: true });
  expect(world.facilitator.settled.size).toBe(1);
  return text.length;
}

/** How much more memory the process takes at most while `work` runs. */
async function growthMb(work: () => Promise<unknown>): Promise<number> {
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  await work();
  clearInterval(watch);
  return (most - before) / 1_048_576;
}

describe("an upstream that sends a gigabyte", () => {
  test("in one piece is a failure, and most of it is never read", async () => {
    const { made, more } = gigabyteOf("a".repeat(65_536));
    const world = await openBefore(() => streamOf(['{"choices":[{"message":{"content":"'], more));
    expect(await growthMb(() => expectFree(world, BODY))).toBeLessThan(400);
    expect(made.bytes).toBeLessThan(GIGABYTE / 8);
  });

  test("of tokens is broken off where the answer is too long, with a receipt of what came", async () => {
    const { made, more } = gigabyteOf(eventOf({ content: "word ".repeat(10_000) }));
    const world = await openBefore(() => streamOf([], more));
    let length = 0;
    const growth = await growthMb(async () => {
      length = await expectBrokenOff(world);
    });
    expect(length).toBeWithin(8_000_000, 9_000_000);
    expect(growth).toBeLessThan(600);
    expect(made.bytes).toBeLessThan(GIGABYTE / 8);
  });

  test("as one event, or as lines without an end, is a failure, or broken off", async () => {
    for (const text of ["a".repeat(65_536), `data: ${"a".repeat(65_000)}\n`]) {
      const before = await openBefore(() => streamOf(["data: "], gigabyteOf(text).more));
      await expectFree(before, STREAM);
      const after = await openBefore(() =>
        streamOf([eventOf({ content: "a" }), "data: "], gigabyteOf(text).more),
      );
      await expectBrokenOff(after);
    }
  });
});

describe("an upstream that hangs", () => {
  test("before its first token costs nothing", async () => {
    for (const texts of [[], [eventOf({ role: "assistant", content: "" })], [": comment\n\n"], ["data: {"]]) {
      await expectFree(await openBefore(() => streamOf(texts, "hang")), STREAM);
    }
    await expectFree(await openBefore(() => new Promise<Response>(() => {})), STREAM);
  });

  test("behind it is broken off in its time", async () => {
    await expectBrokenOff(await openBefore(() => streamOf([eventOf({ content: "a" })], "hang")));
    const half = eventOf({ content: "b" }).slice(0, 30);
    await expectBrokenOff(await openBefore(() => streamOf([eventOf({ content: "a" }), half], "hang")));
  });
});

test("an invalid answer costs nothing", async () => {
  const error = { error: { message: "no", type: "server_error" } };
  const gzip = { headers: { "Content-Encoding": "gzip", "Content-Type": "text/event-stream" } };
  const deep = `{"choices":[${"[".repeat(100_000)}${"]".repeat(100_000)}]}`;
  const answers: readonly (readonly [object, () => Response])[] = [
    [BODY, () => Response.json(error)],
    [STREAM, () => Response.json(error)],
    [STREAM, () => Response.json({ choices: [{ message: { content: "no stream" } }] })],
    [BODY, () => Response.redirect("http://127.0.0.1:1/v1/chat/completions")],
    [BODY, () => new Response("\0".repeat(1000))],
    [BODY, () => new Response(deep)],
    [BODY, () => Response.json({ choices: [] })],
    [STREAM, () => streamOf([`data: ${JSON.stringify(error)}\n\n`])],
    [STREAM, () => streamOf(["data: [DONE]\n\n"])],
    [STREAM, () => streamOf([`data: ${deep}\n\n`, "data: [DONE]\n\n"])],
    [STREAM, () => streamOf(["data: \0\n\n", "data: [DONE]\n\n"])],
    [STREAM, () => new Response(gzipSync(eventOf({ content: "a" })), gzip)],
  ];
  for (const [at, [body, answer]] of answers.entries()) {
    const world = await openBefore(answer);
    const response = await world.pay(CHAT, body);
    expect([at, response.status, world.facilitator.settled.size]).toEqual([at, 502, 0]);
  }
});

test("a second [DONE], NUL bytes and events of any JSON are no harm", async () => {
  const nul = eventOf({ content: "\0a" });
  const world = await openBefore(() =>
    streamOf([
      nul,
      "data: 5\n\ndata: null\n\n",
      eventOf({}, "stop"),
      "data: [DONE]\n\ndata: [DONE]\n\n",
      nul,
    ]),
  );
  const text = await (await world.pay(CHAT, STREAM)).text();
  expect(text.split("data: [DONE]").length).toBe(2);
  expect(text.split(nul).length).toBe(2);
  expect(text).toContain('"receipt":"');
});

test("a stream that is closed right behind its [DONE] is whole, and one that is cut before it is broken off", async () => {
  for (const end of ["data: [DONE]", "data: [DONE]\n", "data:[DONE]\r\n"]) {
    const world = await openBefore(() => streamOf([eventOf({ content: "a" }), eventOf({}, "stop"), end]));
    const text = await (await world.pay(CHAT, STREAM)).text();
    expect([end, text.includes('"error"'), text.endsWith("data: [DONE]\n\n")]).toEqual([end, false, true]);
    const last = JSON.parse(text.split("\n\n").at(-3)?.slice("data: ".length) ?? "null");
    expect(JSON.parse(readJws(last.receipt)?.payload ?? "null")).toMatchObject({ outcome: "complete" });
  }
  await expectBrokenOff(
    await openBefore(() => streamOf([eventOf({ content: "a" }), eventOf({}, "stop"), "data: [DONE"])),
  );
  await expectFree(await openBefore(() => streamOf(["data: [DONE]"])), STREAM);
});

test("an error that is null in every event is none, and one that is a text ends the stream", async () => {
  const withError = (event: string, error: unknown) =>
    event.replace('"id":"c"', `"id":"c","error":${JSON.stringify(error)}`);
  const fine = [eventOf({ role: "assistant", content: "" }), eventOf({ content: "a" }), eventOf({}, "stop")];
  const world = await openBefore(() =>
    streamOf([...fine.map((event) => withError(event, null)), "data: [DONE]\n\n"]),
  );
  const response = await world.pay(CHAT, STREAM);
  expect(response.status).toBe(200);
  expect(await response.text()).toEndWith("data: [DONE]\n\n");
  const broken = 'data: {"error":"out of memory"}\n\n';
  await expectBrokenOff(
    await openBefore(() => streamOf([eventOf({ content: "a" }), broken, "data: [DONE]\n\n"])),
  );
  await expectFree(await openBefore(() => streamOf([broken, "data: [DONE]\n\n"])), STREAM);
});

test("a list of 100,000 calls of tools is put together in little time", () => {
  const choices = createChoices();
  const calls = Array.from({ length: 100_000 }, (_, index) => ({ index, function: { arguments: "" } }));
  const startedMs = performance.now();
  choices.add([{ index: 0, delta: { tool_calls: calls } }]);
  choices.add([{ index: 0, delta: { tool_calls: calls } }]);
  expect(choices.size()).toBeGreaterThan(1_000_000);
  expect(performance.now() - startedMs).toBeLessThan(5000);
});
