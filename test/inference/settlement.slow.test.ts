import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type InferenceWorld, openInferenceWorld } from "../support/inference-service.ts";
import { auditService, openWorld, type PaymentWorld, type WorldPayer } from "../support/payment-world.ts";
import { temporaryFolder } from "../support/process.ts";

/** Calls paid for real: OpenAI's own client, the official x402 client and facilitator code, and local chains. */

setDefaultTimeout(120_000);

const PRICE = 10_000n;
const MODELS = {
  models: [
    {
      ...{ model: "made-up-1", input_usd_per_million: "50", output_usd_per_million: "100" },
      ...{ context_tokens: 100_000, max_output_tokens: 500, margin: 0.1 },
    },
  ],
};
const BODY = { model: "made-up-1", messages: [{ role: "user" as const, content: "Hello?" }] };

const opened = await openWorld();
const withWorld = test.skipIf(opened === null);
const folder = temporaryFolder("inference-models");
let service: InferenceWorld;
let quoted: InferenceWorld;

function world(): PaymentWorld {
  if (opened === null) throw new Error("there is no world");
  return opened;
}

beforeAll(async () => {
  if (opened === null) return;
  const { facilitator, payeeOnBase, payeeOnSolana } = opened;
  const payment = {
    X402_FACILITATOR: facilitator.url,
    PAY_TO_EVM: payeeOnBase,
    PAY_TO_SOLANA: payeeOnSolana,
    PUBLIC_REQUESTS_PER_SECOND: "100000",
  };
  service = await openInferenceWorld(payment);
  const models = join(folder.path, "models.json");
  await Bun.write(models, JSON.stringify(MODELS));
  quoted = await openInferenceWorld({ ...payment, INFERENCE_PRICING: "cost_plus", MODELS_FILE: models });
});
beforeEach(() => {
  if (opened === null) return;
  service.upstream.setAnswer({});
});
afterAll(async () => {
  folder[Symbol.dispose]();
  if (opened === null) return;
  await service[Symbol.asyncDispose]();
  await quoted[Symbol.asyncDispose]();
  await opened[Symbol.asyncDispose]();
});

async function received(): Promise<bigint> {
  const { base, solana } = await world().received();
  return base + solana;
}

/** What a call moved into the payee's account. */
async function earned<T>(call: () => Promise<T>): Promise<{ readonly result: T; readonly amount: bigint }> {
  const before = await received();
  const result = await call();
  return { result, amount: (await received()) - before };
}

const clientOf = (payer: WorldPayer) => payer.openAi(`${service.url}/v1`);

async function isValid(receipt: string | undefined, choices?: unknown): Promise<boolean> {
  const response = await fetch(`${service.url}/v1/receipts/verify`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ receipt, ...(choices === undefined ? {} : { choices }) }),
  });
  return ((await response.json()) as { valid: boolean }).valid;
}

withWorld("OpenAI's client pays for an answer, a stream and a tool call, on both networks", async () => {
  for (const payer of [await world().newBasePayer(1_000_000n), await world().newSolanaPayer(1_000_000n)]) {
    const client = clientOf(payer);
    const plain = await earned(() => client.chat.completions.create(BODY));
    expect([plain.result.choices[0]?.message.content, plain.amount]).toEqual(["Hello, reader.", PRICE]);
    expect(await isValid(plain.result.receipt, plain.result.choices)).toBe(true);

    const streamed = await earned(async () => {
      const chunks = [];
      for await (const chunk of await client.chat.completions.create({ ...BODY, stream: true as const })) {
        chunks.push(chunk);
      }
      return chunks;
    });
    const text = streamed.result.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    expect([text, streamed.amount]).toEqual(["Hello, reader.", PRICE]);
    expect(await isValid(streamed.result.at(-1)?.receipt)).toBe(true);

    service.upstream.setAnswer({ toolCall: { name: "look", arguments: '{"at":"it"}' } });
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const called = await earned(() => client.chat.completions.create({ ...BODY, tools }));
    expect(called.amount).toBe(PRICE);
    expect(called.result.choices[0]?.message.tool_calls).toEqual([
      { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"it"}' } },
    ]);
    service.upstream.setAnswer({});
    const models = await Array.fromAsync(client.models.list());
    expect(models.map(({ id }) => id)).toEqual(["made-up-1"]);
  }
});

withWorld(
  "a call that failed before its first token costs nothing, and one that broke off its price",
  async () => {
    const payer = await world().newBasePayer(1_000_000n);
    const client = clientOf(payer);
    service.upstream.setAnswer({ status: 500 });
    const failed = await earned(() =>
      client.chat.completions.create(BODY, { maxRetries: 0 }).catch((error) => error),
    );
    expect([failed.amount, failed.result.status, failed.result.code]).toEqual([0n, 502, "upstream_failed"]);
    service.upstream.setAnswer({ breakAfter: 3 });
    const broken = await earned(async () => {
      const stream = await client.chat.completions.create({ ...BODY, stream: true as const });
      return await Array.fromAsync(stream).catch((error) => error.message as string);
    });
    expect(broken.amount).toBe(PRICE);
    expect(String(broken.result)).toContain("broke off");
  },
);

withWorld("the price of a quote is the price that is paid", async () => {
  const payer = await world().newBasePayer(10_000_000n);
  const body = JSON.stringify({ ...BODY, max_tokens: 77 });
  const headers = { "Content-Type": "application/json" };
  const asked = await fetch(`${quoted.url}/v1/quote`, { method: "POST", headers, body });
  const quote = (await asked.json()) as { readonly amount: string; readonly output_tokens_max: number };
  expect(quote.output_tokens_max).toBe(77);
  const paid = await earned(() =>
    payer.fetch(`${quoted.url}/v1/chat/completions`, { method: "POST", headers, body }),
  );
  expect(paid.result.status).toBe(200);
  expect(String(paid.amount)).toBe(quote.amount);
  expect(paid.amount).toBeGreaterThan(2000n);
});

const STREAMS = Number(process.env.INFERENCE_STREAMS ?? 20);
withWorld(`${STREAMS} concurrent paid streams are each exact`, async () => {
  const payers = await Promise.all(Array.from({ length: STREAMS }, () => world().newBasePayer(PRICE)));
  service.upstream.setAnswer({ pauseMs: 2, pieces: Array.from({ length: 20 }, (_, at) => `${at} `) });
  const { result, amount } = await earned(() =>
    Promise.all(
      payers.map(async (payer) => {
        const stream = await clientOf(payer).chat.completions.create({ ...BODY, stream: true as const });
        const chunks = await Array.fromAsync(stream);
        return chunks.at(-1)?.verify_url;
      }),
    ),
  );
  expect(amount).toBe(PRICE * BigInt(STREAMS));
  expect(new Set(result).size).toBe(STREAMS);
  const balances = await Promise.all(payers.map((payer) => payer.balance()));
  expect(balances.every((balance) => balance === 0n)).toBe(true);
});

withWorld("the audit of AgentCash finds nothing wrong with the inference service", async () => {
  const found = await auditService(service.url);
  if (found === null) return console.log("inference: the audit of AgentCash is skipped");
  console.log(
    `inference: the audit of AgentCash says of the inference service: ${found.join(", ") || "nothing"}`,
  );
  expect(found).toEqual([]);
});

const PYTHON = "/usr/bin/python3";
const hasJose = existsSync(PYTHON) && Bun.spawnSync([PYTHON, "-c", "import jwcrypto"]).exitCode === 0;
if (!hasJose)
  console.log("inference: python3-jwcrypto is not here; the check of receipts in Python is skipped");

withWorld.skipIf(!hasJose)(
  "a JOSE library of another language takes a receipt, and none that was altered",
  async () => {
    const payer = await world().newBasePayer(1_000_000n);
    const { receipt } = await clientOf(payer).chat.completions.create(BODY);
    const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
    const child = Bun.spawn([PYTHON, join(import.meta.dir, "../support/verify-receipt.py")], {
      stdin: new Blob([JSON.stringify({ receipt, keys })]),
      stdout: "pipe",
      stderr: "inherit",
    });
    const verdict = (await new Response(child.stdout).json()) as {
      fields: number;
      taken: boolean;
      refused: number;
    };
    expect(verdict.taken).toBe(true);
    expect(verdict.fields).toBe(20);
    expect(verdict.refused).toBe(verdict.fields);
  },
);
