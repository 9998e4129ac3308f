import { expect, test } from "bun:test";
import { openInferenceWorld } from "../support/inference-service.ts";
import { payFor } from "../support/made-up-facilitator.ts";

/** `INFERENCE_FUZZ_CALLS=50000` for more. */
const CALLS = Number(process.env.INFERENCE_FUZZ_CALLS ?? 1500);

const PATHS = [
  "/v1/chat/completions",
  "/v1/quote",
  "/task-request",
  "/v1/receipts/verify",
  "/v1/models",
  "/v1/models/%E0%A4%A",
  "/v1/receipts/roots",
  "/v1/receipts/roots/2026-01-01?after=-1",
  "/v1/receipts/x",
  "/v1/tasks/x",
  "/v1/payments/x",
  "/openapi.json",
];
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "\ud800",
  "x".repeat(5000),
  [],
  [[]],
  {},
  { role: "user" },
  [{ role: "user", content: "hi" }],
  [{ role: "user", content: [{ type: "text", text: "hi" }, null, 3, { type: "image_url" }] }],
  "made-up-1",
  { include_usage: true },
  JSON.parse(`${"[".repeat(400)}${"]".repeat(400)}`),
];
const NAMES = [
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "max_tokens",
  "tools",
  "receipt",
  "request",
  "choices",
  "__proto__",
  "toString",
];
const TYPES = [
  "application/json",
  "text/plain",
  "application/json; charset=utf-16",
  "",
  "multipart/form-data",
];

/** The same sequence for the same seed. */
function createRandom(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
}

test(`${CALLS} calls of any shape, a part of them paid, get no 500`, async () => {
  await using world = await openInferenceWorld({ PUBLIC_REQUESTS_PER_SECOND: "1000000" });
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const bodyOf = (): string => {
    if (random(10) === 0) return pick(["", "{", "null", "[]", '"', "\u0000", '{"a":'.repeat(300)]);
    const fields: { [name: string]: unknown } =
      random(3) === 0 ? {} : { model: "made-up-1", messages: [{ role: "user", content: "hi" }] };
    for (let count = random(4); count > 0; count -= 1) {
      Object.defineProperty(fields, pick(NAMES), {
        value: pick(VALUES),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return JSON.stringify(fields);
  };
  const failures: string[] = [];
  const call = async (): Promise<void> => {
    const path = pick(PATHS);
    const method = pick(["POST", "POST", "POST", "GET", "DELETE", "HEAD"]);
    const body = method === "POST" ? bodyOf() : undefined;
    const headers: { [name: string]: string } = { "Content-Type": pick(TYPES) };
    if (random(8) === 0)
      headers["PAYMENT-SIGNATURE"] = pick(["x", btoa("{}"), btoa("null"), "=".repeat(3000)]);
    if (random(8) === 0) headers.Accept = pick(["text/html", "*/*;q=0", "\t", "text/html;q=x"]);
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    let response = await fetch(`${world.url}${path}`, init);
    const isAsked = response.status === 402 && response.headers.has("PAYMENT-REQUIRED") && method === "POST";
    if (isAsked && random(2) === 0) {
      const { "PAYMENT-SIGNATURE": signature } = payFor(response);
      await response.text();
      response = await fetch(`${world.url}${path}`, {
        ...init,
        headers: { ...headers, "PAYMENT-SIGNATURE": signature },
      });
    }
    const text = await response.text();
    if (
      response.status === 500 ||
      (response.status >= 400 && method !== "HEAD" && !text.includes('"code"'))
    ) {
      failures.push(`${response.status} ${method} ${path} ${body?.slice(0, 300)} → ${text.slice(0, 200)}`);
    }
  };
  for (let done = 0; done < CALLS; done += 20) await Promise.all(Array.from({ length: 20 }, call));
  if (failures.length > 0) console.log(`seed ${seed}`);
  expect(failures.slice(0, 5)).toEqual([]);
}, 600_000);
