import { afterAll, expect, test } from "bun:test";
import { payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";

/** A payment that has surely paid nothing buys nothing, whatever its payer and the facilitator do afterwards. */

const facilitator = startMadeUpFacilitator();
const server = startMadeUpPaidServer(facilitator, async () => {
  return { kind: "answer", status: 200, headers: {}, body: '{"n":1}' };
});
afterAll(async () => {
  await server.stop();
  facilitator[Symbol.dispose]();
});

const USED = "invalid_exact_evm_nonce_already_used";
const VALID = { isValid: true };
const invalid = (invalidReason: string) => ({ isValid: false, invalidReason });
/** As the official facilitator reports a transaction that was mined and reverted. */
const REVERTED = { errorReason: "invalid_exact_evm_transaction_failed", success: false, transaction: "0x2" };

/** Has the nonce of the next payment used by something else while it is settled, which is answered so. */
function useElsewhere(settle: object): void {
  let isUsed = false;
  facilitator.setFault((path) => {
    if (path === "supported") return Response.json({ kinds: [] });
    if (path === "verify") return Response.json(isUsed ? invalid(USED) : VALID);
    isUsed = true;
    return Response.json(settle);
  });
}

/** Returns what sends one new payment, again and again. */
async function newPayment(): Promise<() => Promise<Response>> {
  const body = crypto.randomUUID();
  const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(server.url, { method: "POST", body }));
  return () => fetch(server.url, { method: "POST", body, headers: { "PAYMENT-SIGNATURE": signature } });
}

async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code: string } };
  return error?.code ?? "answered";
}

/** Sends a payment until its outcome is known. */
async function untilKnown(send: () => Promise<Response>): Promise<string> {
  for (;;) {
    const response = await send();
    if (response.status !== 503 && response.status !== 409) return await codeOf(response);
  }
}

test.each([
  "invalid_exact_evm_transaction_failed",
  "invalid_exact_svm_transaction_failed",
  "invalid_transaction_state",
])(
  "a payment whose first transaction failed on the chain is unpaid, its nonce used or not (%s)",
  async (errorReason) => {
    const send = await newPayment();
    useElsewhere({ ...REVERTED, errorReason });
    expect(await codeOf(await send())).toBe("payment_invalid");
    expect(await codeOf(await send())).toBe("payment_invalid");
  },
);

test("a transaction that the facilitator has lost sight of, or does not name, may have paid", async () => {
  const lost = {
    ...REVERTED,
    errorMessage: "settlement_pending, but failed to persist for retry: disk full",
  };
  for (const settle of [lost, { ...REVERTED, transaction: "" }]) {
    const send = await newPayment();
    useElsewhere(settle);
    expect(await untilKnown(send)).toBe("answered");
  }
});
