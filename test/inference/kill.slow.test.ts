import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import type { Receipt } from "../../src/contract/receipt.ts";
import { startMadeUpChat } from "../../src/tools/made-up-chat.ts";
import { startInferenceProcess } from "../support/inference-process.ts";
import { MADE_UP_PAYEE, payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { temporaryFolder } from "../support/process.ts";

/**
 * A service that is killed at any moment charges nobody without an answer to be had, and nobody twice. Prompts and answers
 * stand in none of its files, logs and receipts.
 */

/** `INFERENCE_KILLS=200` for more. */
const KILLS = Number(process.env.INFERENCE_KILLS ?? 10);
const HEADERS = { "Content-Type": "application/json" };
/** Words of the requests and of the answers. */
const SECRETS = ["xylophonist", "zeppelin"] as const;
const MESSAGES = [{ role: "user", content: SECRETS[0] }];
const ANSWER = { delayMs: 5, pauseMs: 3, pieces: ["a", SECRETS[1], "c", "d", "e", "f"] };
const KINDS = ["plain", "stream", "stream", "task"] as const;

type Call = {
  readonly path: string;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly nonce: string;
};

async function newCall(url: string, kind: (typeof KINDS)[number], number: number): Promise<Call> {
  const path = kind === "task" ? "/task-request" : "/v1/chat/completions";
  const body = JSON.stringify({
    model: "made-up-1",
    messages: MESSAGES,
    user: `${number}`,
    stream: kind === "stream",
  });
  const refused = await fetch(`${url}${path}`, { method: "POST", headers: HEADERS, body });
  const { "PAYMENT-SIGNATURE": signature } = payFor(refused);
  const nonce = JSON.parse(atob(signature)).payload.authorization.nonce as string;
  return { path, body, headers: { ...HEADERS, "PAYMENT-SIGNATURE": signature }, nonce };
}

/** Returns the status, where the whole reply came. */
async function send(url: string, { path, body, headers }: Call): Promise<number | null> {
  try {
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body });
    await response.text();
    return response.status;
  } catch {
    return null;
  }
}

/** Shows the payment again until its outcome is known. */
async function statusAtLast(url: string, call: Call): Promise<number> {
  for (let tries = 0; tries < 400; tries += 1) {
    const status = await send(url, call);
    if (status !== null && status !== 503 && status !== 409) return status;
    await Bun.sleep(25);
  }
  throw new Error("a payment is owed its answer");
}

test(`${KILLS} kills in every phase: what was charged has its answer, and each receipt its payment`, async () => {
  using upstream = startMadeUpChat();
  using facilitator = startMadeUpFacilitator();
  using folder = temporaryFolder("inference-kill");
  const said: string[] = [];
  upstream.setAnswer(ANSWER);
  const environment = {
    ...{ PORT: "0", HOST: "127.0.0.1", DATA_DIR: folder.path, LOG_LEVEL: "debug" },
    ...{ PAY_TO_EVM: MADE_UP_PAYEE, X402_FACILITATOR: facilitator.url, INFERENCE_UPSTREAM: upstream.url },
    PUBLIC_REQUESTS_PER_SECOND: "100000",
  };
  let service = await startInferenceProcess(environment);
  const calls: Call[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const round = await Promise.all(KINDS.map((kind, at) => newCall(service.url, kind, calls.length + at)));
    calls.push(...round);
    const { url } = service;
    const sent = round.map((call) => send(url, call));
    await Bun.sleep(Math.random() * 60);
    // Some of the calls fail, too.
    if (kill % 5 === 4) upstream.setAnswer({ breakAfter: 2, pieces: ["a", SECRETS[1], "c"] });
    else upstream.setAnswer(ANSWER);
    await service.kill();
    await Promise.all(sent);
    said.push(service.said());
    service = await startInferenceProcess(environment);
  }
  // Every other caller never asks again: what is charged of theirs must be to be had all the same.
  for (const [at, call] of calls.entries()) {
    if (at % 2 === 0 || facilitator.settled.has(call.nonce)) {
      expect([200, 202]).toContain(await statusAtLast(service.url, call));
    }
  }
  const { roots } = (await (await fetch(`${service.url}/v1/receipts/roots`)).json()) as {
    readonly roots: readonly { readonly day: string; readonly receipts: number }[];
  };
  const nonces = new Set<string>();
  const receipts: string[] = [];
  let before: string | null = null;
  let count = 0;
  for (const { day } of roots.toReversed()) {
    const { entries } = (await (await fetch(`${service.url}/v1/receipts/roots/${day}`)).json()) as {
      readonly entries: readonly { readonly receipt_id: string; readonly sha256: string }[];
    };
    for (const { receipt_id: id, sha256 } of entries) {
      const shown = (await (await fetch(`${service.url}/v1/receipts/${id}`)).json()) as {
        readonly valid: boolean;
        readonly receipt: Receipt;
      };
      expect([shown.valid, shown.receipt.prev_receipt_sha256]).toEqual([true, before]);
      before = sha256;
      receipts.push(JSON.stringify(shown));
      nonces.add(shown.receipt.payment_nonce);
      count += 1;
    }
  }
  expect([...nonces].filter((nonce) => !facilitator.settled.has(nonce))).toEqual([]);
  const charged = calls.filter(({ nonce }) => facilitator.settled.has(nonce));
  expect(charged.filter(({ nonce }) => !nonces.has(nonce))).toEqual([]);
  await service.end();
  const places = new Map<string, Buffer>([
    ["receipts", Buffer.from(receipts.join("\n"))],
    ["log", Buffer.from([...said, service.said()].join("\n"))],
  ]);
  for (const file of new Glob("**/*").scanSync({ cwd: folder.path, dot: true })) {
    places.set(file, Buffer.from(await Bun.file(join(folder.path, file)).bytes()));
  }
  expect(places.get("log")?.includes("POST")).toBe(true);
  const found = [...places].flatMap(([place, bytes]) =>
    SECRETS.flatMap((word) => (bytes.includes(word) ? [`${word} in ${place}`] : [])),
  );
  expect(found).toEqual([]);
  console.log(
    `inference: ${KILLS} kills, ${calls.length} payments, ${charged.length} charged, ${count} receipts in one chain`,
  );
}, 900_000);
