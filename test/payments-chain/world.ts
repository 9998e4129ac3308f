import { join } from "node:path";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { wrapFetchWithPayment } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/client";
import OpenAI from "openai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PaidRequest, PaymentWorld, WorldPayer } from "../support/payment-world.ts";
import { openTreasury, startBaseChain } from "./base-chain.ts";
import type { Control, FacilitatorAddresses } from "./facilitator-process.ts";

/** Two local chains, a facilitator and payers, all of them the official code; the payers alone are in this process. */
export async function openPaymentWorld(): Promise<PaymentWorld> {
  const chain = await startBaseChain();
  const base = openTreasury(chain.url);
  const facilitator = await startFacilitatorProcess(chain.url);
  const { control, solanaUrl } = facilitator;
  const solana = {
    fund: (owner: string, amount: bigint) => control({ do: "fund", owner, amount: String(amount) }),
    balanceOf: async (owner: string) => BigInt((await control({ do: "balance", owner })) as string),
  };
  const payeeOnBase = privateKeyToAccount(generatePrivateKey()).address;
  const payeeOnSolana = (await newSigner()).address;
  await solana.fund(payeeOnSolana, 0n);

  const payer = (client: x402Client, address: string, balance: () => Promise<bigint>): WorldPayer => ({
    address,
    balance,
    fetch: wrapFetchWithPayment(fetch, client) as WorldPayer["fetch"],
    /** Version 1 clients look at the body alone. */
    fetchV1: wrapFetchWithPayment(withoutSecondVersion, client) as WorldPayer["fetch"],
    openAi: (baseURL) =>
      new OpenAI({
        baseURL,
        apiKey: "unused",
        fetch: wrapFetchWithPayment(fetch, client) as typeof fetch,
      }) as unknown as ReturnType<WorldPayer["openAi"]>,
    sign: (url, body, type) => sign(client, url, body, type),
  });

  return {
    facilitator: {
      url: facilitator.url,
      setFault: async (fault) => void (await control({ do: "fault", fault })),
    },
    payeeOnBase,
    payeeOnSolana,
    received: async () => ({
      base: await base.balanceOf(payeeOnBase),
      solana: await solana.balanceOf(payeeOnSolana),
    }),
    async newBasePayer(microUsd) {
      const account = privateKeyToAccount(generatePrivateKey());
      if (microUsd > 0n) await base.mint(account.address, microUsd);
      const client = new x402Client()
        .register("eip155:*", new ExactEvmScheme(account))
        .registerV1("base" as never, new ExactEvmSchemeV1(account));
      return payer(client, account.address, () => base.balanceOf(account.address));
    },
    async newSolanaPayer(microUsd) {
      const signer = await newSigner();
      await solana.fund(signer.address, microUsd);
      const config = { rpcUrl: solanaUrl };
      const client = new x402Client()
        .register("solana:*", new ExactSvmScheme(signer as never, config))
        .registerV1("solana" as never, new ExactSvmSchemeV1(signer as never, config));
      return payer(client, signer.address, () => solana.balanceOf(signer.address));
    },
    async [Symbol.asyncDispose]() {
      await facilitator.close();
      await chain.close();
    },
  };
}

const newSigner = () => createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)));

async function startFacilitatorProcess(baseUrl: string) {
  const child = Bun.spawn(["bun", join(import.meta.dir, "facilitator-process.ts"), baseUrl], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const { facilitatorUrl, solanaUrl, controlUrl } = JSON.parse(
    new TextDecoder().decode(value),
  ) as FacilitatorAddresses;
  return {
    url: facilitatorUrl,
    solanaUrl,
    control: async (asked: Control): Promise<unknown> => {
      const reply = await fetch(controlUrl, { method: "POST", body: JSON.stringify(asked) });
      return reply.json();
    },
    close: async (): Promise<void> => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function withoutSecondVersion(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  const headers = new Headers(response.headers);
  headers.delete("PAYMENT-REQUIRED");
  return new Response(response.body, { status: response.status, headers });
}

/** Returns the paid request that a client would send, without sending it. */
async function sign(client: x402Client, url: string, body: string, type?: string): Promise<PaidRequest> {
  let paid: PaidRequest | null = null;
  const record = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (!request.headers.has("payment-signature")) return fetch(request);
    paid = { url, method: "POST", headers: Object.fromEntries(request.headers), body };
    return new Response(null, { status: 204 });
  };
  await wrapFetchWithPayment(record, client)(url, {
    method: "POST",
    body,
    ...(type === undefined ? {} : { headers: { "Content-Type": type } }),
  });
  if (paid === null) throw new Error("the client did not pay");
  return paid;
}
