import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type MadeUpChat, startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import {
  type InferenceProcess,
  startInferenceProcess,
  startListening,
} from "../support/inference-process.ts";
import {
  MADE_UP_PAYEE,
  type MadeUpFacilitator,
  payFor,
  startMadeUpFacilitator,
} from "../support/made-up-facilitator.ts";
import { temporaryFolder } from "../support/process.ts";

setDefaultTimeout(60_000);

const HEADERS = { "Content-Type": "application/json" };
const STREAMS = 200;
const CHUNKS = 100;
const ADDED_MS_MAX = 60;
/** Times what a bare relay takes. */
const CPU_TIMES_MAX = 2.5;
/** Beside what a bare relay takes. */
const ADDED_CPU_US_MAX = 15;
const PACED_STREAMS = 20;
const PACED_CHUNKS = 450;
/** Between two chunks of one stream. */
const PACE_MS = 8;
/** What else the machine does makes some tries slower; it makes none faster. */
const TRIES = 4;

const folder = temporaryFolder("inference-timing");
let upstream: MadeUpChat;
let facilitator: MadeUpFacilitator;
let service: InferenceProcess;
let relay: InferenceProcess;

beforeAll(async () => {
  upstream = startMadeUpChat();
  facilitator = startMadeUpFacilitator();
  service = await startInferenceProcess({
    ...{ PORT: "0", HOST: "127.0.0.1", DATA_DIR: folder.path, LOG_LEVEL: "silent" },
    ...{ PAY_TO_EVM: MADE_UP_PAYEE, X402_FACILITATOR: facilitator.url, INFERENCE_UPSTREAM: upstream.url },
    PUBLIC_REQUESTS_PER_SECOND: "100000",
  });
  const program = join(import.meta.dir, "../support/bare-relay.ts");
  relay = await startListening([program, `${upstream.url}/chat/completions`]);
});
afterAll(async () => {
  await service.kill();
  await relay.kill();
  upstream[Symbol.dispose]();
  facilitator[Symbol.dispose]();
  folder[Symbol.dispose]();
});

function bodyOf(more: object = {}): string {
  return JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], stream: true, ...more });
}

/** Asks, pays and returns the reply, as a client does. */
async function paid(body: string): Promise<Response> {
  const url = `${service.url}/v1/chat/completions`;
  const refused = await fetch(url, { method: "POST", headers: HEADERS, body });
  await refused.text();
  const { "PAYMENT-SIGNATURE": signature } = payFor(refused);
  return await fetch(url, {
    method: "POST",
    headers: { ...HEADERS, "PAYMENT-SIGNATURE": signature },
    body,
  });
}

/** Until the first text of the answer is there. */
async function firstTokenMs(call: () => Promise<Response>): Promise<number> {
  const startedMs = performance.now();
  const response = await call();
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.includes('"content":"Hello"')) break;
  }
  return performance.now() - startedMs;
}

/** How much later the first token comes than from the upstream itself, where nothing else holds it up. */
async function addedMs(): Promise<number> {
  const url = `${upstream.url}/chat/completions`;
  const own: number[] = [];
  const through: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    own.push(await firstTokenMs(() => fetch(url, { method: "POST", headers: HEADERS, body: bodyOf() })));
    through.push(await firstTokenMs(() => paid(bodyOf({ user: `${round}` }))));
  }
  // What else the machine does makes some rounds slower; it makes none faster.
  return Math.min(...through) - Math.min(...own);
}

/** Returns the least of some tries; the first that is good enough is the last. */
async function leastOf(measure: () => Promise<number>, max: number): Promise<number> {
  let least = await measure();
  for (let tries = 1; least >= max && tries < TRIES; tries += 1) least = Math.min(least, await measure());
  return least;
}

test(`the first token comes at most ${ADDED_MS_MAX} ms later than from the upstream, payment included`, async () => {
  upstream.setAnswer({ delayMs: 20 });
  const added = await leastOf(addedMs, ADDED_MS_MAX);
  console.log(`inference: the first token comes ${added.toFixed(1)} ms later than from the upstream itself`);
  expect(added).toBeLessThan(ADDED_MS_MAX);
});

/** CPU time of both while they pass as many streams on at the same time. */
async function cpuMs(streams: number, chunks: number): Promise<readonly [number, number]> {
  upstream.setAnswer({ pauseMs: PACE_MS, pieces: Array.from({ length: chunks }, (_, at) => `word${at} `) });
  const before = [service.cpuMs(), relay.cpuMs()] as const;
  const drain = async (call: Promise<Response>) => void (await (await call).text());
  const bare = () => fetch(relay.url, { method: "POST", body: bodyOf() });
  await Promise.all(
    Array.from({ length: streams }, (_, at) => [
      drain(paid(bodyOf({ user: `${at}` }))),
      drain(bare()),
    ]).flat(),
  );
  return [service.cpuMs() - before[0], relay.cpuMs() - before[1]];
}

/** How much of both bounds a chunk takes; payment and receipt are left out. */
async function shareOfBounds(): Promise<number> {
  const [short, long] = [await cpuMs(PACED_STREAMS, 1), await cpuMs(PACED_STREAMS, 1 + PACED_CHUNKS)];
  const eachUs = (at: 0 | 1) => (1000 * (long[at] - short[at])) / (PACED_STREAMS * PACED_CHUNKS);
  const [own, bare] = [eachUs(0), eachUs(1)];
  console.log(`inference: ${own.toFixed(1)} µs of CPU a chunk, a bare relay ${bare.toFixed(1)} µs`);
  return Math.max(own / bare / CPU_TIMES_MAX, (own - bare) / ADDED_CPU_US_MAX);
}

test.skipIf(!existsSync("/proc/self/schedstat"))(
  `a chunk that comes by itself takes at most ${CPU_TIMES_MAX} times the CPU of a bare relay, and ${ADDED_CPU_US_MAX} µs more`,
  async () => {
    // Twice: what a service that has run for a while takes is asked for.
    for (let time = 0; time < 2; time += 1) await cpuMs(PACED_STREAMS, PACED_CHUNKS);
    expect(await leastOf(shareOfBounds, 1)).toBeLessThan(1);
  },
);

/** What came of a stream: its pieces in order, and its receipt. */
async function readStream(chunks: number, name: string): Promise<void> {
  const response = await paid(bodyOf({ user: name }));
  const text = await response.text();
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"));
  const parsed = events.map((event) => JSON.parse(event.slice("data: ".length)));
  const whole = parsed.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  expect(whole).toBe(Array.from({ length: chunks }, (_, at) => `${at} `).join(""));
  expect(parsed.at(-1).verify_url).toBe(response.headers.get("X-Verify-Url"));
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
}

async function readStreams(streams: number, chunks: number): Promise<void> {
  upstream.setAnswer({ pieces: Array.from({ length: chunks }, (_, at) => `${at} `) });
  const settled = facilitator.settled.size;
  await Promise.all(Array.from({ length: streams }, (_, at) => readStream(chunks, `${chunks} ${at}`)));
  expect(facilitator.settled.size).toBe(settled + streams);
}

test(`${STREAMS} paid streams at once are each exact`, () => readStreams(STREAMS, CHUNKS));
