import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/facilitator";
import { toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/facilitator";
import type { FacilitatorFault } from "../support/payment-world.ts";
import type { Relayer } from "./base-chain.ts";
import type { SolanaChain } from "./solana-chain.ts";

/** The official facilitator behind HTTP, with the faults that a real one has. */
export function startFacilitator({ client, wallet, relayer }: Relayer, solana: SolanaChain) {
  const evm = toFacilitatorEvmSigner({
    address: relayer,
    readContract: (args: never) => client.readContract(args),
    verifyTypedData: (args: never) => client.verifyTypedData(args),
    writeContract: (args: never) => wallet.writeContract(args),
    sendTransaction: (args: never) => wallet.sendTransaction(args),
    waitForTransactionReceipt: (args: never) => client.waitForTransactionReceipt(args),
    getCode: (args: never) => client.getCode(args),
  } as never);
  const svm = toFacilitatorSvmSigner(solana.relayer as never, { defaultRpcUrl: solana.url });
  const real = new x402Facilitator()
    .register("eip155:8453", new ExactEvmScheme(evm))
    .register("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", new ExactSvmScheme(svm))
    .registerV1("base" as never, new ExactEvmSchemeV1(evm))
    .registerV1("solana" as never, new ExactSvmSchemeV1(svm));
  let fault: FacilitatorFault | null = null;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 60,
    fetch: async (request) => {
      const path = new URL(request.url).pathname.slice(1);
      if (fault === "down") return new Response("bad gateway", { status: 502 });
      if (path === "supported") return Response.json(real.getSupported());
      if (path !== "verify" && path !== "settle") return new Response(null, { status: 404 });
      const { paymentPayload, paymentRequirements } = (await request.json()) as never;
      if (path === "verify") {
        if (fault === "verify hangs") await new Promise(() => {});
        return Response.json(await real.verify(paymentPayload, paymentRequirements));
      }
      if (fault === "settle hangs") await new Promise(() => {});
      if (fault === "settle fails before broadcast") return new Response("boom", { status: 500 });
      const settled = await real.settle(paymentPayload, paymentRequirements);
      if (fault === "settle fails after broadcast") return new Response("boom", { status: 500 });
      if (fault === "settle hangs after broadcast") await new Promise(() => {});
      if (fault === "settle denies after broadcast") {
        return Response.json({
          ...settled,
          success: false,
          errorReason: "unexpected_settle_error",
          transaction: "",
        });
      }
      return Response.json(settled);
    },
  });
  return {
    url: server.url.origin,
    setFault: (next: FacilitatorFault | null): void => {
      fault = next;
    },
  };
}
