import { afterAll, expect, test } from "bun:test";
import { PRICE_MICRO_USD, startPaidServer } from "../support/paid-server.ts";
import { openWorld, type PaidRequest, type PaymentWorld, type WorldPayer } from "../support/payment-world.ts";

/** Payments settled for real: the official client, facilitator code and chains, without a stand-in for any. */

const PRICE = BigInt(PRICE_MICRO_USD);
const FUNDS = 1_000_000n;
/** `FACILITATOR_DOWN_SECONDS=60` for a minute. */
const DOWN_SECONDS = Number(process.env.FACILITATOR_DOWN_SECONDS ?? 1);
const opened = await openWorld();
const withWorld = test.skipIf(opened === null);
afterAll(() => opened?.[Symbol.asyncDispose]());

function world(): PaymentWorld {
  if (opened === null) throw new Error("there is no world");
  return opened;
}

type Work = () => Promise<{ readonly status: number; readonly body: string }>;

const answering: Work = async () => ({ status: 200, body: '{"answer":42}' });
/** Of the servers whose facilitator fails, so that no test waits long for an outcome that nobody knows. */
const UNKNOWN_AFTER_MS = 400;

/** Starts a paid server for one test; its facilitator is without fault again afterwards. */
async function openServer(work: Work = answering, settleDeadlineMs = 20_000) {
  const { facilitator, payeeOnBase, payeeOnSolana } = world();
  let worked = 0;
  const server = startPaidServer({
    ...{ dataDir: null, facilitatorUrl: facilitator.url, payeeOnBase, payeeOnSolana, settleDeadlineMs },
    work: async () => {
      worked += 1;
      return { kind: "answer", headers: {}, ...(await work()) };
    },
  });
  return {
    ...server,
    worked: () => worked,
    async [Symbol.asyncDispose]() {
      await facilitator.setFault(null);
      await server.stop();
      expect(server.bugs).toEqual([]);
    },
  };
}

async function bothPayers(): Promise<WorldPayer[]> {
  return [await world().newBasePayer(FUNDS), await world().newSolanaPayer(FUNDS)];
}

/** What a call moved: out of the payer's account and into the payee's. */
async function moved<T>(payer: WorldPayer, call: () => Promise<T>) {
  const before = { payer: await payer.balance(), payee: await total() };
  const result = await call();
  return { result, paid: before.payer - (await payer.balance()), got: (await total()) - before.payee };
}

async function total(): Promise<bigint> {
  const { base, solana } = await world().received();
  return base + solana;
}

const send = ({ url, ...options }: PaidRequest) => fetch(url, options);
const post = (body: string) => ({ method: "POST", body });

async function errorCode(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return error.code;
}

/** Sends a payment until its outcome is known. */
async function untilKnown(request: PaidRequest): Promise<Response> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const response = await send(request);
    if (response.status !== 503 && response.status !== 409) return response;
    if (performance.now() > deadline) throw new Error("the outcome stays unknown");
    await Bun.sleep(20);
  }
}

withWorld("clients of both versions pay on both networks, to the atomic unit", async () => {
  await using server = await openServer();
  for (const payer of await bothPayers()) {
    for (const version of ["fetch", "fetchV1"] as const) {
      const { result, paid, got } = await moved(payer, () => payer[version](server.url, post(version)));
      expect([result.status, paid, got]).toEqual([200, PRICE, PRICE]);
      expect(await result.json()).toEqual({ answer: 42 });
      const header = version === "fetch" ? "PAYMENT-RESPONSE" : "X-PAYMENT-RESPONSE";
      const notice = JSON.parse(atob(result.headers.get(header) ?? ""));
      expect(notice).toMatchObject({ success: true, transaction: expect.stringMatching(/.{40,}/) });
      expect(notice.payer.toLowerCase()).toBe(payer.address.toLowerCase());
      const id = result.headers.get("X-Payment-Id");
      const view = await (await fetch(`${server.origin}/v1/payments/${id}`)).json();
      const { transaction } = notice;
      expect(view).toMatchObject({
        payment_id: id,
        status: "settled",
        amount: "50000",
        amount_usd: "0.05",
        transaction,
      });
    }
  }
  expect(server.store.settledTotals()).toEqual({ count: 4, microUsd: 4 * PRICE_MICRO_USD });
});

withWorld("a payment buys one answer, and is given it again without a charge", async () => {
  await using server = await openServer();
  for (const payer of await bothPayers()) {
    const before = server.worked();
    const request = await payer.sign(server.url, "once");
    const first = await moved(payer, () => send(request));
    expect([first.result.status, first.paid]).toEqual([200, PRICE]);
    const again = await moved(payer, () => send(request));
    expect([again.result.status, again.paid, server.worked() - before]).toEqual([200, 0n, 1]);
    expect(await again.result.text()).toBe(await first.result.text());
    expect(again.result.headers.get("X-Payment-Id")).toBe(first.result.headers.get("X-Payment-Id"));
    const other = await moved(payer, () => send({ ...request, body: "another" }));
    expect([other.result.status, await errorCode(other.result), other.paid]).toEqual([
      402,
      "payment_invalid",
      0n,
    ]);
  }
});

withWorld(
  "of 20 concurrent uses of one payment one is answered and charged, the others get 409",
  async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using server = await openServer(async () => {
      await promise;
      return { status: 200, body: "{}" };
    });
    const payer = await world().newBasePayer(FUNDS);
    const request = await payer.sign(server.url, "race");
    const { paid, result } = await moved(payer, async () => {
      let refused = 0;
      const calls = Array.from({ length: 20 }, async () => {
        const response = await send(request);
        if (response.status === 409 && ++refused === 19) resolve();
        return response;
      });
      return Promise.all(calls);
    });
    expect(result.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    for (const { status, headers } of result) {
      if (status === 409)
        expect([headers.get("x-should-retry"), headers.get("Retry-After")]).toEqual(["false", "2"]);
    }
    expect([paid, server.worked()]).toEqual([PRICE, 1]);
  },
);

withWorld("what is not answered with a 2xx is not charged", async () => {
  let status = 504;
  await using server = await openServer(async () => {
    if (status === 0) throw new Error("a bug");
    return { status, body: '{"error":{"code":"processing","message":"later"}}' };
  });
  for (const payer of await bothPayers()) {
    for (status of [504, 502, 500, 400, 0]) {
      const { result, paid, got } = await moved(payer, () => payer.fetch(server.url, post(`${status}`)));
      expect([result.status, paid, got]).toEqual([status || 500, 0n, 0n]);
      expect(result.headers.get("X-Payment-Id")).toStartWith("pay_");
    }
  }
  expect(server.bugs.splice(0)).toHaveLength(2);
  expect(server.store.settledTotals().count).toBe(0);
});

withWorld(
  "payments that are tampered with, of too little, or of empty accounts are 402 and free",
  async () => {
    await using server = await openServer();
    const payer = await world().newBasePayer(FUNDS);
    const request = await payer.sign(server.url, "tampered");
    const sent = JSON.parse(atob(request.headers["payment-signature"] ?? ""));
    const tampered = [
      { ...sent, accepted: { ...sent.accepted, amount: "1" } },
      { ...sent, accepted: { ...sent.accepted, payTo: payer.address } },
      { ...sent, payload: { ...sent.payload, authorization: { ...sent.payload.authorization, value: "1" } } },
      {
        ...sent,
        payload: { ...sent.payload, authorization: { ...sent.payload.authorization, to: payer.address } },
      },
      {
        ...sent,
        payload: { ...sent.payload, signature: sent.payload.signature.replace(/.{8}$/, "0000001b") },
      },
      { ...sent, x402Version: 3 },
      { ...sent, payload: null },
      [],
    ];
    const { paid } = await moved(payer, async () => {
      for (const value of [
        ...tampered.map((each) => btoa(JSON.stringify(each))),
        "no base64 at all!",
        btoa("{"),
      ]) {
        const headers = { "PAYMENT-SIGNATURE": value };
        const response = await fetch(server.url, { method: "POST", headers, body: "tampered" });
        expect([response.status, await errorCode(response)]).toEqual([402, "payment_invalid"]);
      }
    });
    const poor = await world().newBasePayer(PRICE - 1n);
    const refused = await poor.fetch(server.url, post("poor"));
    expect([refused.status, await errorCode(refused), paid, server.worked()]).toEqual([
      402,
      "payment_invalid",
      0n,
      0,
    ]);
  },
);

withWorld(
  "a settlement whose outcome is unknown is 503, and the same payment then gets its answer once",
  async () => {
    await using server = await openServer(answering, UNKNOWN_AFTER_MS);
    const faults = [
      "settle hangs",
      "settle fails before broadcast",
      "settle fails after broadcast",
      "settle hangs after broadcast",
    ] as const;
    for (const fault of faults) {
      for (const payer of await bothPayers()) {
        const before = server.worked();
        const request = await payer.sign(server.url, fault);
        const { paid, got } = await moved(payer, async () => {
          await world().facilitator.setFault(fault);
          const unknown = await send(request);
          expect([fault, unknown.status, await errorCode(unknown)]).toEqual([
            fault,
            503,
            "settlement_unknown",
          ]);
          expect(unknown.headers.get("Retry-After")).toMatch(/^\d+$/);
          expect(unknown.headers.get("x-should-retry")).toBe("false");
          expect(unknown.headers.get("PAYMENT-REQUIRED")).toBeNull();
          await world().facilitator.setFault(null);
          const known = await untilKnown(request);
          expect([fault, known.status, await known.json()]).toEqual([fault, 200, { answer: 42 }]);
        });
        expect([fault, paid, got, server.worked() - before]).toEqual([fault, PRICE, PRICE, 1]);
      }
    }
  },
);

withWorld("a settlement that nobody asks for again is cleared up by itself", async () => {
  await using server = await openServer(answering, UNKNOWN_AFTER_MS);
  const payer = await world().newBasePayer(FUNDS);
  const request = await payer.sign(server.url, "alone");
  const { paid } = await moved(payer, async () => {
    await world().facilitator.setFault("down");
    const down = await send(request);
    expect([down.status, await errorCode(down)]).toEqual([502, "upstream_failed"]);
    await world().facilitator.setFault("settle fails before broadcast");
    const { status, headers } = await send(request);
    expect(status).toBe(503);
    const view = async () =>
      (await fetch(`${server.origin}/v1/payments/${headers.get("X-Payment-Id")}`)).json() as Promise<{
        status: string;
      }>;
    expect((await view()).status).toBe("settling");
    await world().facilitator.setFault(null);
    while ((await view()).status === "settling") await Bun.sleep(20);
    expect((await view()).status).toBe("settled");
  });
  expect([paid, (await send(request)).status, server.worked()]).toEqual([PRICE, 200, 1]);
});

withWorld("of two payments that race for the last of an account one is answered and charged", async () => {
  await using server = await openServer();
  for (const payer of [await world().newBasePayer(PRICE), await world().newSolanaPayer(PRICE)]) {
    const requests = [await payer.sign(server.url, "first"), await payer.sign(server.url, "second")];
    const { result, paid, got } = await moved(payer, () => Promise.all(requests.map(untilKnown)));
    expect([result.map(({ status }) => status).sort(), paid, got]).toEqual([[200, 402], PRICE, PRICE]);
  }
});

withWorld(
  `a facilitator that is down for ${DOWN_SECONDS} s: what was sent on is settled once, what comes meanwhile is free`,
  async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let working = 0;
    await using server = await openServer(async () => {
      working += 1;
      if (working === 2) {
        await world().facilitator.setFault("down");
        resolve();
      }
      await promise;
      return { status: 200, body: '{"answer":42}' };
    }, UNKNOWN_AFTER_MS);
    const payers = await bothPayers();
    const late = await world().newBasePayer(FUNDS);
    const requests: PaidRequest[] = [];
    for (const payer of payers) requests.push(await payer.sign(server.url, "sent on"));
    const lateRequest = await late.sign(server.url, "late");
    const before = await total();
    const sent = await Promise.all(requests.map(send));
    expect(await Promise.all(sent.map(errorCode))).toEqual(["settlement_unknown", "settlement_unknown"]);
    const refused = await send(lateRequest);
    expect([refused.status, await errorCode(refused)]).toEqual([502, "upstream_failed"]);
    const upMs = performance.now() + DOWN_SECONDS * 1000;
    while (performance.now() < upMs) {
      expect(server.payments.stats().unknown).toBe(2);
      await Bun.sleep(50);
    }
    expect((await total()) - before).toBe(0n);
    await world().facilitator.setFault(null);
    for (const request of [...requests, lateRequest]) expect((await untilKnown(request)).status).toBe(200);
    const paid = await Promise.all([...payers, late].map(async (payer) => FUNDS - (await payer.balance())));
    expect([paid, (await total()) - before]).toEqual([[PRICE, PRICE, PRICE], 3n * PRICE]);
    expect(working).toBe(3);
  },
  DOWN_SECONDS * 1000 + 60_000,
);

withWorld("a facilitator that denies what it has settled costs nobody the answer", async () => {
  await using server = await openServer();
  for (const payer of await bothPayers()) {
    await world().facilitator.setFault("settle denies after broadcast");
    const { result, paid } = await moved(payer, () => payer.fetch(server.url, post("denied")));
    expect([payer.address, result.status, await result.json(), paid]).toEqual([
      payer.address,
      200,
      { answer: 42 },
      PRICE,
    ]);
    await world().facilitator.setFault(null);
  }
});

withWorld("a payment whose nonce was used elsewhere is 402, not a kept answer", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using first = await openServer(async () => {
    await promise;
    return { status: 200, body: "{}" };
  });
  await using second = await openServer();
  for (const payer of [await world().newBasePayer(FUNDS)]) {
    const request = await payer.sign(first.url, "elsewhere");
    const slow = send(request);
    while (first.worked() === 0) await Bun.sleep(5);
    const taken = await send({ ...request, url: second.url });
    expect(taken.status).toBe(200);
    resolve();
    for (const response of [await slow, await send(request)]) {
      expect([response.status, await errorCode(response)]).toEqual([402, "payment_invalid"]);
    }
  }
});
