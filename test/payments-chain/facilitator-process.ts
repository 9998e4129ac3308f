import type { FacilitatorFault } from "../support/payment-world.ts";
import { openRelayer } from "./base-chain.ts";
import { startFacilitator } from "./facilitator.ts";
import { startSolanaChain } from "./solana-chain.ts";

/**
 * The facilitator and the local Solana in a process of their own, so that neither waits for a test or a server. The
 * URL of the local Base is the first argument; prints one line of JSON once it answers, and ends with its input.
 */

export type FacilitatorAddresses = {
  readonly facilitatorUrl: string;
  readonly solanaUrl: string;
  readonly controlUrl: string;
};

/** What tests do from outside, as JSON. Amounts are decimal text. */
export type Control =
  | { readonly do: "fault"; readonly fault: FacilitatorFault | null }
  | { readonly do: "fund"; readonly owner: string; readonly amount: string }
  | { readonly do: "balance"; readonly owner: string };

const [baseUrl = ""] = process.argv.slice(2);
const solana = await startSolanaChain();
const facilitator = startFacilitator(openRelayer(baseUrl), solana);
const control = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const asked = (await request.json()) as Control;
    if (asked.do === "fault") facilitator.setFault(asked.fault);
    else if (asked.do === "fund") await solana.fund(asked.owner, BigInt(asked.amount));
    else return Response.json(String(await solana.balanceOf(asked.owner)));
    return Response.json(null);
  },
});
const addresses: FacilitatorAddresses = {
  facilitatorUrl: facilitator.url,
  solanaUrl: solana.url,
  controlUrl: control.url.href,
};
process.stdout.write(`${JSON.stringify(addresses)}\n`);
// Whoever started it has ended, in whatever way.
for await (const _ of Bun.stdin.stream());
process.exit(0);
