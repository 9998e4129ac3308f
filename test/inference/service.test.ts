import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { Glob } from "bun";
import type { Receipt } from "../../src/contract/receipt.ts";
import { createChoices } from "../../src/inference/choices.ts";
import { readJws } from "../../src/signing/jws.ts";
import { type PublicKey, rotateSigningKey } from "../../src/signing/signing-key.ts";
import { startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import { until } from "../support/caller.ts";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";
import { payFor } from "../support/made-up-facilitator.ts";

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const MESSAGES = [{ role: "user", content: "Tell me the secret word: xylophonist." }];
const BODY = { model: "made-up-1", messages: MESSAGES };

let world: InferenceWorld;
beforeAll(async () => {
  world = await openInferenceWorld();
});
beforeEach(() => {
  world.upstream.setAnswer({});
  world.facilitator.setFault(null);
});
afterAll(() => world[Symbol.asyncDispose]());

type Answer = {
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly content: string | null };
  }[];
  readonly receipt: string;
  readonly verify_url: string;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
  };
};

async function answerOf(response: Response): Promise<Answer> {
  return (await response.json()) as Answer;
}

function receiptOf(jws: string): Receipt {
  return JSON.parse(readJws(jws)?.payload ?? "null") as Receipt;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The data of the events of a stream. */
async function eventsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length));
}

async function verified(
  jws: string,
  kept: object = {},
): Promise<{ valid: boolean; checks: { check: string; passed: boolean }[] }> {
  const response = await fetch(`${world.url}/v1/receipts/verify`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ receipt: jws, ...kept }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { valid: boolean; checks: { check: string; passed: boolean }[] };
}

describe("a paid call", () => {
  test("is answered as by OpenAI, with a receipt that anyone can check", async () => {
    const before = world.facilitator.settled.size;
    const sent = JSON.stringify({ ...BODY, seed: 1, custom: { kept: true } });
    const response = await world.pay(CHAT, sent);
    expect(response.status).toBe(200);
    const answer = await answerOf(response);
    expect(answer.choices[0]?.message.content).toBe("Hello, reader.");
    expect(world.facilitator.settled.size).toBe(before + 1);
    expect(world.upstream.calls.at(-1)?.body).toBe(sent);
    expect(response.headers.get("X-Verify-Url")).toBe(answer.verify_url);
    const receipt = receiptOf(answer.receipt);
    expect(receipt).toMatchObject({
      receipt_id: response.headers.get("X-Receipt-Id"),
      amount: "10000",
      outcome: "complete",
      request_sha256: hashOf(sent),
      model_requested: "made-up-1",
      usage: { total_tokens: 13 },
    });
    const shown = await fetch(answer.verify_url);
    expect(await shown.json()).toMatchObject({ valid: true, receipt: { receipt_id: receipt.receipt_id } });
    expect(await verified(answer.receipt, { request: sent, choices: answer.choices })).toMatchObject({
      valid: true,
    });
    expect(await verified(answer.receipt, { request: `${sent} ` })).toMatchObject({ valid: false });
    const page = await fetch(answer.verify_url, { headers: { Accept: "text/html" } });
    expect(await page.text()).toContain("This receipt is valid");
  });

  test("shown again has the same answer and receipt, and is not charged again", async () => {
    const sent = JSON.stringify({ ...BODY, user: "again" });
    const headers = { "Content-Type": "application/json" };
    const refused = await fetch(`${world.url}${CHAT}`, { method: "POST", headers, body: sent });
    const paid = { method: "POST", headers: { ...headers, ...payFor(refused) }, body: sent };
    const first = await (await fetch(`${world.url}${CHAT}`, paid)).text();
    const settled = world.facilitator.settled.size;
    const calls = world.upstream.calls.length;
    expect(await (await fetch(`${world.url}${CHAT}`, paid)).text()).toBe(first);
    expect([world.facilitator.settled.size, world.upstream.calls.length]).toEqual([settled, calls]);
  });

  test("of a stream has its receipt in the last event, over the choices as put together", async () => {
    world.upstream.setAnswer({ toolCall: { name: "look", arguments: '{"at":"it"}' } });
    for (const includesUsage of [true, false]) {
      const sent = {
        ...BODY,
        stream: true,
        n: 2,
        ...(includesUsage ? { stream_options: { include_usage: true } } : {}),
      };
      const response = await world.pay(CHAT, sent);
      expect(response.status).toBe(200);
      expect(response.headers.get("Content-Type")).toBe("text/event-stream; charset=utf-8");
      const events = await eventsOf(response);
      expect(events.pop()).toBe("[DONE]");
      const chunks = events.map((event) => JSON.parse(event));
      const last = chunks.at(-1);
      expect(chunks.filter(({ receipt }) => receipt !== undefined)).toEqual([last]);
      expect(last.usage !== null && last.choices.length === 0).toBe(includesUsage);
      const together = createChoices();
      for (const { choices } of chunks) together.add(choices);
      const receipt = receiptOf(last.receipt);
      expect(receipt).toMatchObject({
        outcome: "complete",
        receipt_id: response.headers.get("X-Receipt-Id"),
        usage: { total_tokens: 13 },
      });
      expect(
        await verified(last.receipt, { request: JSON.stringify(sent), choices: together.all() }),
      ).toMatchObject({
        valid: true,
      });
    }
  });

  test("leaves no word of request or answer in the service's files", async () => {
    await answerOf(await world.pay(CHAT, BODY));
    await (await world.pay(CHAT, { ...BODY, stream: true })).text();
    for (const file of new Glob("**/*").scanSync({ cwd: world.dataDir, dot: true })) {
      const bytes = Buffer.from(await Bun.file(`${world.dataDir}/${file}`).bytes());
      expect([file, bytes.includes("xylophonist"), bytes.includes("Hello, reader")]).toEqual([
        file,
        false,
        false,
      ]);
    }
  });
});

describe("nothing is charged", () => {
  async function unpaid(body: object, status: number): Promise<Answer> {
    const before = world.facilitator.settled.size;
    const response = await world.pay(CHAT, body);
    expect(response.status).toBe(status);
    const answer = await answerOf(response);
    expect(world.facilitator.settled.size).toBe(before);
    return answer;
  }

  test("where the upstream fails before the first token", async () => {
    for (const answer of [
      { status: 500 },
      { status: 429 },
      { status: 401 },
      { breakAfter: 1 },
      { breakAfter: 0, breakBy: "error" as const },
      { breakAfter: 1, breakBy: "half a chunk" as const },
    ]) {
      world.upstream.setAnswer(answer);
      const { error } = await unpaid({ ...BODY, stream: true }, 502);
      expect(error).toEqual({
        code: "upstream_failed",
        message: "No upstream answers. Nothing was charged.",
        type: "api_error",
        param: null,
      });
      world.upstream.setAnswer({});
      await answerOf(await world.pay(CHAT, BODY));
    }
  });

  test("where the upstream cannot answer a call, and nobody shuts others out with such calls", async () => {
    for (let sent = 0; sent < 8; sent += 1) {
      world.upstream.setAnswer(sent % 2 === 0 ? { status: 500 } : { breakAfter: 1 });
      await unpaid({ ...BODY, stream: true, user: `${sent}` }, 502);
    }
    world.upstream.setAnswer({});
    expect((await world.pay(CHAT, BODY)).status).toBe(200);
  });

  test("where an answer in one piece is too long: it is made once, and not by each upstream", async () => {
    using first = startMadeUpChat();
    using second = startMadeUpChat();
    await using small = await openInferenceWorld({
      INFERENCE_UPSTREAM: `${first.url},${second.url}`,
      INFERENCE_ANSWER_BYTES_MAX: "65536",
    });
    first.setAnswer({ pieces: ["x".repeat(70_000)] });
    const refused = await small.pay(CHAT, BODY);
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([502, "false"]);
    expect((await answerOf(refused)).error?.message).toContain("The answer passes 65536 bytes");
    expect([first.calls.length, second.calls.length, small.facilitator.settled.size]).toEqual([1, 0, 0]);
    first.setAnswer({ status: 500 });
    expect((await small.pay(CHAT, BODY)).status).toBe(200);
    expect([first.calls.length, second.calls.length]).toEqual([2, 1]);
  });

  test("where the upstream refuses the request, in its words", async () => {
    const error = {
      message: "max_tokens is too large",
      type: "invalid_request_error",
      param: "max_tokens",
      code: null,
    };
    world.upstream.setAnswer({ status: 400, error });
    const refused = await unpaid(BODY, 400);
    expect(refused.error).toEqual({ ...error, code: "invalid_request" });
  });

  test("where the body is wrong, which is said before a payment is asked for", async () => {
    const response = await fetch(`${world.url}${CHAT}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"model":"m","messages":[]}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        code: "invalid_request",
        message: "messages must be a list of at least one object with a role.",
        type: "invalid_request_error",
        param: "messages",
      },
    });
  });

  test("where the flat price leaves out what the upstream charges for the call", async () => {
    const calls = world.upstream.calls.length;
    for (const field of [
      { service_tier: "priority" },
      { web_search_options: {} },
      { models: ["dear-1"] },
      { extra_body: { model: "dear-1" } },
    ]) {
      const { error } = await unpaid({ ...BODY, ...field }, 400);
      expect([error?.code, error?.param]).toEqual(["invalid_request", Object.keys(field)[0]]);
    }
    expect(world.upstream.calls.length).toBe(calls);
    expect((await world.pay(CHAT, { ...BODY, service_tier: "default" })).status).toBe(200);
  });

  test("where the caller leaves before the first token: the upstream is stopped", async () => {
    world.upstream.setAnswer({ delayMs: 60_000 });
    const before = [world.facilitator.settled.size, world.upstream.aborted()];
    const stop = new AbortController();
    const calls = world.upstream.calls.length;
    const call = world.pay(CHAT, { ...BODY, stream: true }, { signal: stop.signal });
    await until("call at the upstream", () => world.upstream.calls.length > calls);
    stop.abort();
    await expect(call).rejects.toThrow();
    await until("end at the upstream", () => world.upstream.aborted() > (before[1] ?? 0));
    expect(world.facilitator.settled.size).toBe(before[0] ?? -1);
  });
});

describe("a stream that ends early", () => {
  test("says so, in its last event and in the receipt", async () => {
    for (const breakBy of ["close", "error", "half a chunk"] as const) {
      world.upstream.setAnswer({ breakAfter: 3, breakBy });
      const events = await eventsOf(await world.pay(CHAT, { ...BODY, stream: true }));
      const last = JSON.parse(events.at(-1) ?? "{}");
      expect(last.error.code).toBe("upstream_failed");
      const receipt = receiptOf(last.receipt);
      expect(receipt.outcome).toBe("upstream_failed");
      const choices = [{ index: 0, message: { role: "assistant", content: "Hello, " }, finish_reason: null }];
      expect(await verified(last.receipt, { choices })).toMatchObject({ valid: true });
    }
  });

  test("because its caller left stops the upstream at once; the receipt says what came", async () => {
    world.upstream.setAnswer({ breakAfter: 3, breakBy: "hang" });
    const before = world.upstream.aborted();
    const response = await world.pay(CHAT, { ...BODY, stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until("end at the upstream", () => world.upstream.aborted() > before);
    const verifyUrl = response.headers.get("X-Verify-Url") ?? "";
    await until("receipt", async () => (await fetch(verifyUrl)).status === 200);
    expect(await (await fetch(verifyUrl)).json()).toMatchObject({
      valid: true,
      receipt: { outcome: "caller_left" },
    });
  });

  test("with the service is in the chain after the next start", async () => {
    world.upstream.setAnswer({ breakAfter: 3, breakBy: "hang" });
    const response = await world.pay(CHAT, { ...BODY, stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await world.restart();
    const verifyUrl = response.headers.get("X-Verify-Url") ?? "";
    const shown = (await (await fetch(verifyUrl)).json()) as { valid: boolean; receipt: Receipt };
    expect(shown.valid).toBe(true);
    expect(["interrupted", "caller_left"]).toContain(shown.receipt.outcome);
  });
});

describe("receipts", () => {
  test("chain, and the root of the day is that of their leaves", async () => {
    const { roots } = (await (await fetch(`${world.url}/v1/receipts/roots`)).json()) as {
      roots: { day: string; receipts: number; root: string; is_final: boolean }[];
    };
    const [today] = roots;
    expect(today?.is_final).toBe(false);
    const { entries } = (await (await fetch(`${world.url}/v1/receipts/roots/${today?.day}`)).json()) as {
      entries: { receipt_id: string; leaf: string; sha256: string }[];
    };
    expect(entries.length).toBe(today?.receipts ?? -1);
    let before: string | null = null;
    for (const { receipt_id: id, sha256 } of entries) {
      const { receipt, valid } = (await (await fetch(`${world.url}/v1/receipts/${id}`)).json()) as {
        receipt: Receipt;
        valid: boolean;
      };
      expect([valid, receipt.prev_receipt_sha256]).toEqual([true, before]);
      before = sha256;
    }
  });

  test("stay valid when another key signs: both are published, also after another start", async () => {
    const { receipt: old } = await answerOf(await world.pay(CHAT, BODY));
    const { retired, present } = rotateSigningKey(world.dataDir);
    await world.restart();
    const { receipt: young } = await answerOf(await world.pay(CHAT, BODY));
    expect([old, young].map((jws) => readJws(jws)?.header.kid)).toEqual([retired.kid, present.kid]);
    await world.restart();
    const { keys } = (await (await fetch(`${world.url}/.well-known/jwks.json`)).json()) as {
      keys: PublicKey[];
    };
    expect(keys).toEqual([present, retired]);
    for (const [jws, key] of [
      [old, retired],
      [young, present],
    ] as const) {
      expect((await verified(jws)).valid).toBe(true);
      const shown = await fetch(`${world.url}/v1/receipts/${receiptOf(jws).receipt_id}`);
      expect(await shown.json()).toMatchObject({ valid: true, key });
    }
  });

  test("that nobody issued are 404, and none of these routes asks for money", async () => {
    expect((await fetch(`${world.url}/v1/receipts/rcpt_nothing`)).status).toBe(404);
    expect((await fetch(`${world.url}/v1/receipts/roots/2001-01-01`)).status).toBe(404);
    expect((await fetch(`${world.url}/v1/receipts/roots?before=yesterday`)).status).toBe(400);
    expect(await verified("nonsense")).toMatchObject({
      valid: false,
      checks: [{ check: "format", passed: false }],
    });
  });
});

describe("a task", () => {
  type Task = { readonly status: string; readonly answer: Answer | null; readonly error: object | null };

  async function ended(statusUrl: string): Promise<Task> {
    const read = async () => (await (await fetch(statusUrl)).json()) as Task;
    await until("end of the task", async () => (await read()).status !== "running");
    return await read();
  }

  test("is accepted at once, paid when its answer is there, and kept with its receipt", async () => {
    world.upstream.setAnswer({ delayMs: 300 });
    const before = world.facilitator.settled.size;
    const response = await world.pay("/task-request", BODY);
    expect(response.status).toBe(202);
    const { task_id, status_url } = (await response.json()) as { task_id: string; status_url: string };
    expect(status_url).toBe(`${world.url}/v1/tasks/${task_id}`);
    expect(world.facilitator.settled.size).toBe(before);
    const { status, answer } = await ended(status_url);
    expect(status).toBe("done");
    expect(world.facilitator.settled.size).toBe(before + 1);
    expect(answer?.choices[0]?.message.content).toBe("Hello, reader.");
    expect(await verified(answer?.receipt ?? "")).toMatchObject({ valid: true });
  });

  test("whose upstream fails costs nothing, and says so", async () => {
    world.upstream.setAnswer({ status: 500 });
    const before = world.facilitator.settled.size;
    const { status_url } = (await (await world.pay("/task-request", BODY)).json()) as { status_url: string };
    expect(await ended(status_url)).toMatchObject({
      status: "failed",
      answer: null,
      error: { code: "upstream_failed" },
    });
    expect(world.facilitator.settled.size).toBe(before);
    world.upstream.setAnswer({});
    await answerOf(await world.pay(CHAT, BODY));
  });

  test("that the upstream refuses as a conflict fails at once, in its words, and is not sent again", async () => {
    const error = { message: "the thread is locked", type: "invalid_request_error", param: null, code: null };
    world.upstream.setAnswer({ status: 409, error });
    const before = [world.upstream.calls.length, world.facilitator.settled.size];
    const { status_url } = (await (await world.pay("/task-request", BODY)).json()) as { status_url: string };
    expect(await ended(status_url)).toMatchObject({ status: "failed", error: { message: error.message } });
    expect([world.upstream.calls.length - 1, world.facilitator.settled.size]).toEqual(before);
  });

  test("outlives a restart", async () => {
    world.upstream.setAnswer((call) => ({ delayMs: call > calls + 1 ? 0 : 60_000 }));
    const calls = world.upstream.calls.length;
    const { status_url } = (await (await world.pay("/task-request", BODY)).json()) as { status_url: string };
    await until("call at the upstream", () => world.upstream.calls.length > calls);
    await world.restart();
    expect((await ended(status_url)).status).toBe("done");
  });

  test("whose payment may have been charged is not given up for being late", async () => {
    let settlements = 0;
    world.facilitator.setFault((path) => {
      if (path === "verify") return Response.json({ isValid: true });
      settlements += 1;
      return new Response("", { status: 500 });
    });
    const { status_url } = (await (await world.pay("/task-request", BODY)).json()) as { status_url: string };
    await until("settlement", () => settlements > 0);
    world.advance(16 * 60_000);
    const before = settlements;
    await until("three more settlements", () => settlements > before + 3);
    world.facilitator.setFault(null);
    expect((await ended(status_url)).status).toBe("done");
  });

  /** Sends a task, and once more with the same payment when it has failed. */
  async function sentTwice(fail: () => void, mend: () => void): Promise<{ first: Task; second: Task }> {
    const call = { method: "POST", body: JSON.stringify(BODY) };
    const headers = { "Content-Type": "application/json" };
    const refused = await fetch(`${world.url}/task-request`, { ...call, headers });
    const paid = { ...call, headers: { ...headers, ...payFor(refused) } };
    const task = async () => {
      const response = await fetch(`${world.url}/task-request`, paid);
      expect(response.status).toBe(202);
      return await ended(((await response.json()) as { status_url: string }).status_url);
    };
    fail();
    const first = await task();
    mend();
    return { first, second: await task() };
  }

  test("that has failed runs again with the same payment, which then buys its answer", async () => {
    const before = world.facilitator.settled.size;
    const { first, second } = await sentTwice(
      () => world.upstream.setAnswer({ status: 500 }),
      () => world.upstream.setAnswer({}),
    );
    expect(first).toMatchObject({ status: "failed", error: { code: "upstream_failed" } });
    expect(second).toMatchObject({ status: "done", error: null });
    expect(world.facilitator.settled.size).toBe(before + 1);
  });

  test("whose settlement was refused has its answer once the same payment is settled", async () => {
    const refusal = { success: false, errorReason: "insufficient_funds" };
    const { first, second } = await sentTwice(
      () =>
        world.facilitator.setFault((path) =>
          Response.json(path === "verify" ? { isValid: true } : path === "settle" ? refusal : { kinds: [] }),
        ),
      () => world.facilitator.setFault(null),
    );
    expect(first).toMatchObject({ status: "failed", error: { code: "payment_invalid" } });
    expect(second).toMatchObject({ status: "done", error: null });
    expect(second.answer?.choices[0]?.message.content).toBe("Hello, reader.");
  });

  test("with a stream, or of an unknown id, is refused", async () => {
    const refused = await world.pay("/task-request", { ...BODY, stream: true });
    expect([refused.status, (await answerOf(refused)).error?.param]).toEqual([400, "stream"]);
    expect((await fetch(`${world.url}/v1/tasks/task_nothing`)).status).toBe(404);
  });
});

test("the models are those of the upstream, with the price", async () => {
  const { data } = (await (await fetch(`${world.url}/v1/models`)).json()) as {
    data: { id: string; pricing: object }[];
  };
  expect(data).toEqual([
    expect.objectContaining({ id: "made-up-1", pricing: { mode: "flat", call_usd: "0.01" } }),
  ]);
  expect((await fetch(`${world.url}/v1/models/made-up-1`)).status).toBe(200);
  expect((await fetch(`${world.url}/v1/models/vendor/none`)).status).toBe(404);
});
