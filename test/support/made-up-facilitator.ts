/** A facilitator that takes every payment it is shown once, and payers for it: for tests of routes, not of settlement. */

export type MadeUpFacilitator = Disposable & {
  readonly url: string;
  /** What was settled, by nonce. */
  readonly settled: ReadonlyMap<string, { readonly payer: string; readonly amount: string }>;
  /** Answers instead of the facilitator; null for none. */
  setFault: (fault: ((path: string) => Response | Promise<Response>) | null) => void;
};

type Asked = {
  readonly paymentPayload: {
    readonly payload: { readonly authorization: { from: string; nonce: string; value: string } };
  };
  readonly paymentRequirements: { readonly network: string };
};

export function startMadeUpFacilitator(): MadeUpFacilitator {
  const settled = new Map<string, { readonly payer: string; readonly amount: string }>();
  let fault: ((path: string) => Response | Promise<Response>) | null = null;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      if (fault !== null) return fault(path);
      if (path === "supported") return Response.json({ kinds: [], extensions: [], signers: {} });
      const { paymentPayload, paymentRequirements } = (await request.json()) as Asked;
      const { from: payer, nonce, value: amount } = paymentPayload.payload.authorization;
      const isUsed = settled.has(nonce);
      if (path === "verify") {
        return Response.json(
          isUsed ? { isValid: false, invalidReason: "nonce_already_used", payer } : { isValid: true, payer },
        );
      }
      if (isUsed) return Response.json({ success: false, errorReason: "nonce_already_used" });
      settled.set(nonce, { payer, amount });
      const { network } = paymentRequirements;
      return Response.json({ success: true, transaction: `0x${nonce.slice(2)}`, network, payer });
    },
  });
  return {
    url: server.url.origin,
    settled,
    setFault: (next) => {
      fault = next;
    },
    [Symbol.dispose]: () => server.stop(true),
  };
}

/** The address that tests have paid. */
export const MADE_UP_PAYEE = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

/** Returns the header that pays what a 402 asks for, from a payer of its own. */
export function payFor(refused: Response): { readonly "PAYMENT-SIGNATURE": string; readonly payer: string } {
  const challenge = JSON.parse(atob(refused.headers.get("PAYMENT-REQUIRED") ?? ""));
  const [accepted] = challenge.accepts;
  const payer = `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString("hex")}`;
  const authorization = {
    ...{ from: payer, to: accepted.payTo, value: accepted.amount },
    validAfter: "0",
    validBefore: "99999999999",
    nonce: `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex")}`,
  };
  const payload = { authorization, signature: `0x${"11".repeat(65)}` };
  const sent = { x402Version: 2, resource: challenge.resource, accepted, payload };
  return { "PAYMENT-SIGNATURE": btoa(JSON.stringify(sent)), payer };
}
