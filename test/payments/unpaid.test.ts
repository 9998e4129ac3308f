import { afterAll, expect, test } from "bun:test";
import { payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";

/** A payment that has surely paid nothing buys nothing, whatever its payer and the facilitator do afterwards. */

type Said = { readonly verify: object; readonly settle: object | number };

const facilitator = startMadeUpFacilitator();
const server = startMadeUpPaidServer(facilitator, async () => {
  return { kind: "answer", status: 200, headers: {}, body: '{"n":1}' };
});
afterAll(async () => {
  await server.stop();
  facilitator[Symbol.dispose]();
});

const USED = "invalid_exact_evm_nonce_already_used";
const EXPIRED = "invalid_exact_evm_payload_authorization_valid_before";
const EMPTY = "invalid_exact_evm_insufficient_balance";
const VALID = { isValid: true };
const invalid = (invalidReason: string) => ({ isValid: false, invalidReason });
const refused = (errorReason: string) => ({ success: false, errorReason });
/** As the official facilitator reports a transaction that was mined and reverted. */
const REVERTED = { errorReason: "invalid_exact_evm_transaction_failed", success: false, transaction: "0x2" };

/** Has the facilitator give fixed answers, a number as a status of its own; returns what it was asked to settle since. */
function answerAs({ verify, settle }: Said): { settlements: number } {
  const asked = { settlements: 0 };
  facilitator.setFault((path) => {
    if (path === "supported") return Response.json({ kinds: [] });
    if (path === "verify") return Response.json(verify);
    asked.settlements += 1;
    return typeof settle === "number" ? new Response("", { status: settle }) : Response.json(settle);
  });
  return asked;
}

/** Has the next payment turn bad while it is settled, which is answered so: its nonce is used elsewhere, if nothing else. */
function spoil(settle: object, reason = USED): void {
  let isSpoilt = false;
  facilitator.setFault((path) => {
    if (path === "supported") return Response.json({ kinds: [] });
    if (path === "verify") return Response.json(isSpoilt ? invalid(reason) : VALID);
    isSpoilt = true;
    return Response.json(settle);
  });
}

/** Returns what sends one new payment, again and again. `validBefore` is in seconds since the epoch. */
async function newPayment(validBefore?: number): Promise<() => Promise<Response>> {
  const body = crypto.randomUUID();
  const paid = payFor(await fetch(server.url, { method: "POST", body }));
  const sent = JSON.parse(atob(paid["PAYMENT-SIGNATURE"]));
  if (validBefore !== undefined) sent.payload.authorization.validBefore = String(validBefore);
  const signature = btoa(JSON.stringify(sent));
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
    spoil({ ...REVERTED, errorReason });
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
    spoil(settle);
    expect(await untilKnown(send)).toBe("answered");
  }
});

const REFUSALS: readonly (readonly [what: string, first: object, afterwards: Said])[] = [
  ["its nonce used elsewhere", refused(USED), { verify: invalid(USED), settle: refused(USED) }],
  [
    "its nonce used elsewhere, at a facilitator that verifies without the chain",
    refused(USED),
    { verify: VALID, settle: refused(USED) },
  ],
  [
    "an account that was emptied, and its time over",
    refused(EMPTY),
    { verify: invalid(EXPIRED), settle: refused(EXPIRED) },
  ],
  ["a reverted transaction", REVERTED, { verify: invalid(USED), settle: refused(USED) }],
];

test.each(REFUSALS)(
  "a payment that was refused stays so, for %s, while settlements are lost",
  async (_, first, said) => {
    const send = await newPayment();
    answerAs({ verify: VALID, settle: first });
    expect(await codeOf(await send())).toBe("payment_invalid");
    for (const lost of [500, 429]) {
      const asked = answerAs({ ...said, settle: lost });
      expect([lost, await codeOf(await send()), asked.settlements]).toEqual([lost, "payment_invalid", 0]);
    }
    answerAs(said);
    expect(await untilKnown(send)).toBe("payment_invalid");
    expect(server.bugs).toEqual([]);
  },
);

/** What `/settle` says of a payment that it did not broadcast, or does not say whether it did. */
const FAILED = refused("invalid_exact_evm_transaction_failed");
const DOUBTS: readonly (readonly [what: string, refuse: () => unknown])[] = [
  ["emptied its account before the broadcast", () => spoil(FAILED, EMPTY)],
  ["failed on the chain", () => spoil(FAILED, "InstructionError: custom program error: 0x1")],
  ["was given up while it was good", () => answerAs({ verify: VALID, settle: FAILED })],
];

test.each(DOUBTS)(
  "what was refused after a doubt stays so, whatever it does then: it %s",
  async (_, refuse) => {
    for (const reason of [EXPIRED, USED]) {
      const send = await newPayment();
      refuse();
      expect(await codeOf(await send())).toBe("payment_invalid");
      for (const settle of [refused(reason), 500]) {
        const asked = answerAs({ verify: invalid(reason), settle });
        expect([await codeOf(await send()), asked.settlements]).toEqual(["payment_invalid", 0]);
      }
      facilitator.setFault(null);
    }
  },
);

test("what was refused after a doubt is unpaid, also where it turns bad as it is sent again", async () => {
  for (const reason of [EXPIRED, USED]) {
    const send = await newPayment();
    spoil(FAILED, EMPTY);
    expect(await codeOf(await send())).toBe("payment_invalid");
    spoil(refused(reason), reason);
    expect(await untilKnown(send)).toBe("payment_invalid");
  }
});

test("what was refused is not sent again so late that it could expire meanwhile", async () => {
  const send = await newPayment(Math.floor(Date.now() / 1000) + 3600);
  spoil(FAILED, EMPTY);
  expect(await codeOf(await send())).toBe("payment_invalid");
  server.advance(3_560_000);
  spoil(FAILED, EXPIRED);
  expect(await untilKnown(send)).toBe("payment_invalid");
  facilitator.setFault(null);
  expect(await untilKnown(send)).toBe("payment_invalid");
  server.advance(-3_560_000);
  expect(await untilKnown(send)).toBe("answered");
});

test("a payment that was refused buys its answer once it is good, and not while nobody can verify it", async () => {
  const send = await newPayment();
  answerAs({ verify: VALID, settle: refused(EMPTY) });
  expect(await codeOf(await send())).toBe("payment_invalid");
  const down = answerAs({ verify: {}, settle: 500 });
  expect([await codeOf(await send()), down.settlements]).toEqual(["payment_invalid", 0]);
  facilitator.setFault(null);
  const before = facilitator.settled.size;
  expect([await codeOf(await send()), facilitator.settled.size]).toEqual(["answered", before + 1]);
});

test.each([401, 403, 404, 405, 429])(
  "a settlement refused unread (%i) leaves the payment as it was",
  async (status) => {
    for (const [reason, settle] of [
      [USED, refused(USED)],
      [EXPIRED, refused(EXPIRED)],
      // Lost only now: the payment is looked at before it is sent.
      [USED, 500],
    ] as const) {
      const send = await newPayment();
      answerAs({ verify: VALID, settle: status });
      const unknown = await send();
      expect([unknown.status, unknown.headers.get("x-should-retry")]).toEqual([503, "false"]);
      expect(await codeOf(unknown)).toBe("settlement_unknown");
      answerAs({ verify: invalid(reason), settle });
      expect([reason, settle, await untilKnown(send)]).toEqual([reason, settle, "payment_invalid"]);
    }
    const good = await newPayment();
    answerAs({ verify: VALID, settle: status });
    expect(await codeOf(await good())).toBe("settlement_unknown");
    facilitator.setFault(null);
    expect(await untilKnown(good)).toBe("answered");
  },
);

test("what may have been sent stays doubtful, whatever is refused unread before or behind it", async () => {
  for (const lost of [500, 400, 408, 409]) {
    const send = await newPayment();
    for (const settle of [429, lost, 429]) {
      const asked = answerAs({ verify: VALID, settle });
      expect(await codeOf(await send())).not.toBe("payment_invalid");
      while (asked.settlements === 0) await send();
    }
    answerAs({ verify: invalid(USED), settle: refused(USED) });
    expect([lost, await untilKnown(send)]).toEqual([lost, "answered"]);
  }
});
