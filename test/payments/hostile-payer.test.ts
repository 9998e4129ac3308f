import { afterAll, expect, test } from "bun:test";
import { payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";

/** A payer that sends anything as its payment: it is refused, without a 500, and buys nothing. */

type Json = { readonly [name: string]: unknown };

let worked = 0;
const facilitator = startMadeUpFacilitator();
const server = startMadeUpPaidServer(facilitator, async () => {
  worked += 1;
  return { kind: "answer", status: 200, headers: {}, body: '{"n":1}' };
});
afterAll(async () => {
  await server.stop();
  facilitator[Symbol.dispose]();
});

const BODY = "asked";
const encode = (value: unknown) => btoa(JSON.stringify(value));
const send = (headers: { readonly [name: string]: string } | [string, string][]) =>
  fetch(server.url, { method: "POST", body: BODY, headers });
const challenge = await send({});

/** A good payment of its own, as it is before it is encoded. */
function newPayment(): Json {
  return JSON.parse(atob(payFor(challenge)["PAYMENT-SIGNATURE"]));
}

/** The same payment as version 1 has it. */
function asFirst({ payload }: Json): Json {
  return { x402Version: 1, scheme: "exact", network: "base", payload };
}

function withField(value: unknown, [name, ...rest]: readonly string[], changed: unknown): unknown {
  if (name === undefined) return changed;
  const fields = value as Json;
  return { ...fields, [name]: withField(fields[name], rest, changed) };
}

const CHECKED = [
  ["x402Version"],
  ["payload"],
  ["accepted"],
  ...["scheme", "network", "amount", "asset", "payTo", "extra"].map((name) => ["accepted", name]),
  ["accepted", "extra", "name"],
  ["payload", "signature"],
  ["payload", "authorization"],
  ...["from", "to", "value", "validAfter", "validBefore", "nonce"].map((name) => [
    "payload",
    "authorization",
    name,
  ]),
];
const VALUES: readonly unknown[] = [
  ...[undefined, null, true, -1, 1.5, 1e308, "", " ", "0x", "-1", "1e3", "9".repeat(79), "x".repeat(5000)],
  ...["\u0000", "\ud800", [], [[]], {}, { toString: 1 }, ["exact"]],
];

async function expectRefused(what: unknown, headers: Parameters<typeof send>[0]): Promise<void> {
  const reply = await send(headers);
  const { error } = (await reply.json()) as { error: { code: string } };
  expect([what, reply.status, error.code]).toEqual([what, 402, "payment_invalid"]);
  expect([what, reply.headers.has("PAYMENT-REQUIRED")]).toEqual([what, true]);
}

test("a payment with any of its fields missing or of another kind buys nothing", async () => {
  for (const path of CHECKED) {
    for (const value of VALUES) {
      const what = [path.join("."), value];
      await expectRefused(what, { "PAYMENT-SIGNATURE": encode(withField(newPayment(), path, value)) });
      if (path[0] !== "payload") continue;
      await expectRefused(what, { "X-PAYMENT": encode(withField(asFirst(newPayment()), path, value)) });
    }
  }
  expect([worked, facilitator.settled.size, server.bugs]).toEqual([0, 0, []]);
});

test("what is no payment in base64 buys nothing", async () => {
  const good = encode(newPayment());
  const texts = [
    "x",
    "e30",
    "bnVsbA==",
    "W10=",
    `${good} `.repeat(2),
    good.slice(1),
    `${good}!`,
    good.slice(0, -40),
  ];
  for (const text of [...texts, "A".repeat(12_000), "%7B%7D", "e30=, e30="]) {
    for (const name of ["PAYMENT-SIGNATURE", "X-PAYMENT"]) {
      await expectRefused([name, text.slice(0, 20)], { [name]: text });
    }
  }
  expect([worked, server.bugs]).toEqual([0, []]);
});

test("of two payments in one call none or one is taken, and never both", async () => {
  const twice = () => encode(newPayment());
  await expectRefused("twice the header", [
    ["PAYMENT-SIGNATURE", twice()],
    ["PAYMENT-SIGNATURE", twice()],
  ]);
  const both = { "PAYMENT-SIGNATURE": twice(), "X-PAYMENT": encode(asFirst(newPayment())) };
  expect([(await send(both)).status, facilitator.settled.size]).toEqual([200, 1]);
  const broken = { "PAYMENT-SIGNATURE": "e30=", "X-PAYMENT": encode(asFirst(newPayment())) };
  await expectRefused("a broken one beside a good one", broken);
  expect(facilitator.settled.size).toBe(1);
});

test("each version is read in its own header, and the second in that of the first; one nonce is one payment in both", async () => {
  const before = facilitator.settled.size;
  await expectRefused("the first in the header of the second", {
    "PAYMENT-SIGNATURE": encode(asFirst(newPayment())),
  });
  for (const x402Version of [0, 3, "2"]) {
    await expectRefused(x402Version, { "PAYMENT-SIGNATURE": encode({ ...newPayment(), x402Version }) });
  }
  const payment = newPayment();
  const answers = [
    await send({ "X-PAYMENT": encode(payment) }),
    await send({ "PAYMENT-SIGNATURE": encode(payment) }),
    await send({ "X-PAYMENT": encode(asFirst(payment)) }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(facilitator.settled.size).toBe(before + 1);
});

test("an authorization is taken between its times alone, and with time left to settle it", async () => {
  const before = facilitator.settled.size;
  const now = Math.floor(Date.now() / 1000);
  const timed = (validAfter: number, validBefore: number) =>
    withField(
      withField(newPayment(), ["payload", "authorization", "validAfter"], `${validAfter}`),
      ["payload", "authorization", "validBefore"],
      `${validBefore}`,
    );
  for (const [validAfter, validBefore] of [
    [0, now - 1],
    [0, now],
    [0, now + 5],
    [0, now + 50],
    [now + 60, now + 600],
    [now + 600, now + 60],
  ] as const) {
    await expectRefused([validAfter - now, validBefore - now], {
      "PAYMENT-SIGNATURE": encode(timed(validAfter, validBefore)),
    });
  }
  expect((await send({ "PAYMENT-SIGNATURE": encode(timed(now - 1, now + 90)) })).status).toBe(200);
  expect(facilitator.settled.size).toBe(before + 1);
});

test("a payment that was settled has its answer after its own end, too", async () => {
  const before = facilitator.settled.size;
  const end = Math.floor(Date.now() / 1000) + 80;
  const payment = withField(newPayment(), ["payload", "authorization", "validBefore"], `${end}`);
  const headers = { "PAYMENT-SIGNATURE": encode(payment) };
  expect((await send(headers)).status).toBe(200);
  server.advance(120_000);
  const again = await send(headers);
  expect([again.status, await again.text(), facilitator.settled.size]).toEqual([200, '{"n":1}', before + 1]);
});
