import { startInferenceService } from "../app/inference-service.ts";
import { readInferenceServiceConfig } from "../app/inference-settings.ts";
import { createLog } from "../app/log.ts";
import { systemPlatform } from "../app/platform.ts";
import { formatUsd } from "../billing/money.ts";
import type { JsonValue } from "../inference/choices.ts";
import { checkReceipt, type KeptCall } from "../inference/receipt-check.ts";
import type { PublicKey } from "../signing/signing-key.ts";
import { startMadeUpChat } from "../tools/made-up-chat.ts";
import { hasLocalChains, installLocalChains, type LocalPayer, openLocalChains } from "./local-chains.ts";

const FUNDS = 50_000n;
const PRICE = 10_000n;
const NO_CHAINS =
  "The local chains cannot be installed: this needs the folder of the project (test/payments-chain) and the package registry.\n";

type PaidChat = {
  readonly choices: readonly JsonValue[];
  readonly receipt: string;
  readonly verify_url: string;
};
type ChatEvent = Partial<PaidChat> & {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[];
};

/**
 * Pays for two calls of an inference service of its own, on local chains, and checks their receipts. Returns false where
 * the chains cannot be had. Throws where anything is not as it says.
 */
export async function showPaidCalls(
  dataDir: string,
  stack: AsyncDisposableStack,
  write: (text: string) => void,
): Promise<boolean> {
  if (!hasLocalChains()) {
    write(
      "Installing the local chains, once: 240 MB (anvil, litesvm, x402's own client and facilitator) …\n",
    );
  }
  if (!(await installLocalChains())) {
    write(NO_CHAINS);
    return false;
  }
  const chains = stack.use(await openLocalChains());
  const upstream = stack.use(startMadeUpChat());
  const config = readInferenceServiceConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    LOG_LEVEL: "silent",
    INFERENCE_UPSTREAM: upstream.url,
    PAY_TO_EVM: chains.payeeOnBase,
    PAY_TO_SOLANA: chains.payeeOnSolana,
    X402_FACILITATOR: chains.facilitator.url,
  });
  const service = await startInferenceService(config, systemPlatform(createLog("silent")));
  stack.defer(async () => void (await service.stop()));
  const basePayer = await chains.newBasePayer(FUNDS);
  const solanaPayer = await chains.newSolanaPayer(FUNDS);
  write(`A private service listens on ${service.url}, before a made-up upstream. Its chains are local ones with the ids of Base
and Solana: nothing leaves this machine, and no money is real. Two payers have ${usd(FUNDS)} USDC each.

`);

  await showCalls(service.url, basePayer, solanaPayer, write);

  const received = await chains.received();
  const [base, solana] = await Promise.all([basePayer.balance(), solanaPayer.balance()]);
  expect(base === FUNDS - PRICE && solana === FUNDS - PRICE, "each payer to have paid one call");
  expect(received.base === PRICE && received.solana === PRICE, "the payee to have the price of each call");
  write(`
On the chains: the payers have ${usd(base)} and ${usd(solana)} USDC left, the payee has ${usd(received.base)} on Base and ${usd(received.solana)} on Solana.
`);
  return true;
}

/** Asks for a quote, pays for a call on Base and for a stream on Solana, and checks the receipt of each. */
async function showCalls(
  url: string,
  basePayer: LocalPayer,
  solanaPayer: LocalPayer,
  write: (text: string) => void,
): Promise<void> {
  const body = chatBody({});
  const quote = (await (await post(fetch, `${url}/v1/quote`, body)).json()) as { amount_usd: string };
  write(`POST /v1/quote             what it will cost, for free: ${quote.amount_usd} USD\n`);
  const refused = await post(fetch, `${url}/v1/chat/completions`, body);
  expect(refused.status === 402 && refused.headers.has("PAYMENT-REQUIRED"), "a challenge");
  write(`POST /v1/chat/completions  unpaid: 402, with the challenge in PAYMENT-REQUIRED\n`);

  const paid = await post(basePayer.fetch, `${url}/v1/chat/completions`, body);
  const answer = (await paid.json()) as PaidChat;
  const [choice] = answer.choices as readonly { readonly message: { readonly content: string } }[];
  write(`  paid on Base             ${paid.status}: ${choice?.message.content}\n`);
  const streamBody = chatBody({ stream: true });
  const streamed = await readStream(solanaPayer, `${url}/v1/chat/completions`, streamBody);
  write(`  paid on Solana, stream   ${streamed.status}: ${streamed.text}\n`);

  const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
    readonly keys: readonly PublicKey[];
  };
  write(
    "\nThe receipt of each call, by the service (verify_url) and by itself with the keys of jwks.json:\n",
  );
  for (const [receipt, verifyUrl, kept] of [
    [answer.receipt, answer.verify_url, { request: body, choices: answer.choices }],
    [streamed.receipt, streamed.verifyUrl, { request: streamBody }],
  ] as const) {
    write(await receiptLines(receipt, verifyUrl, kept, keys));
  }
}

function chatBody(more: object): string {
  const messages = [{ role: "user", content: "Who reads the receipt?" }];
  return JSON.stringify({ model: "made-up-1", messages, ...more });
}

function post(send: LocalPayer["fetch"], url: string, body: string): Promise<Response> {
  return send(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
}

async function readStream({ fetch: send }: LocalPayer, url: string, body: string) {
  const response = await post(send, url, body);
  const events = (await response.text())
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice("data: ".length)) as ChatEvent);
  const { receipt = "", verify_url: verifyUrl = "" } = events.at(-1) ?? {};
  const text = events.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  return { status: response.status, text, receipt, verifyUrl };
}

async function receiptLines(
  jws: string,
  url: string,
  kept: KeptCall,
  keys: readonly PublicKey[],
): Promise<string> {
  const shown = (await (await fetch(url)).json()) as {
    readonly valid: boolean;
    readonly checks: readonly { readonly check: string; readonly passed: boolean }[];
  };
  const { valid, receipt, checks } = checkReceipt(jws, keys, kept);
  expect(shown.valid && valid, "a valid receipt");
  expect(!checkReceipt(altered(jws), keys).valid, "an altered receipt to be refused");
  const passed = [...new Set([...shown.checks, ...checks].map(({ check }) => check))];
  return `  ${url}
    valid (${passed.join(", ")}); with its amount altered it is refused
    ${receipt?.payer} paid ${usd(BigInt(receipt?.amount ?? 0))} USDC in ${receipt?.transaction}
`;
}

/** Returns a receipt that claims another amount under the same signature. */
function altered(jws: string): string {
  const [header, payload = "", signature] = jws.split(".");
  const claimed = Buffer.from(payload, "base64url").toString().replace('"amount":"1', '"amount":"2');
  return [header, Buffer.from(claimed).toString("base64url"), signature].join(".");
}

function usd(microUsd: bigint): string {
  return formatUsd(Number(microUsd));
}

function expect(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`the demo expected ${what}`);
}
