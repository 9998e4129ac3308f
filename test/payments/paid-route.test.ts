import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import type { PaidWork } from "../../src/http/paid.ts";
import type { KeptAnswer } from "../../src/payments/kept-answer.ts";
import type { ByteSource, SourceSink } from "../../src/payments/paid-call.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { type MadeUpFacilitator, payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";

/** What a route that is paid does, whatever it sells. Settlement itself is tested on chains. */

let facilitator: MadeUpFacilitator;
beforeAll(() => {
  facilitator = startMadeUpFacilitator();
});
afterAll(() => facilitator[Symbol.dispose]());

async function openServer(work: PaidWork["work"]) {
  facilitator.setFault(null);
  const server = startMadeUpPaidServer(facilitator, work);
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() });
}

const plain: PaidWork["work"] = async () => ({ kind: "answer", status: 200, headers: {}, body: '{"n":1}' });

/** Pays a call and returns its reply and the headers that paid it. */
async function pay(url: string, body: string) {
  const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(url, { method: "POST", body }));
  const headers = { "PAYMENT-SIGNATURE": signature };
  return { headers, reply: await fetch(url, { method: "POST", body, headers }) };
}

test("a call that asks nothing learns the price, and a wrong one is refused before it is to be paid", async () => {
  await using server = await openServer(plain);
  const empty = await fetch(server.url, { method: "POST" });
  expect([empty.status, empty.headers.get("Cache-Control")]).toEqual([402, "no-store"]);
  const { accepts, x402Version, resource } = JSON.parse(atob(empty.headers.get("PAYMENT-REQUIRED") ?? ""));
  expect([x402Version, accepts[0].amount, resource.url]).toEqual([2, "50000", server.url]);
  expect(await empty.json()).toMatchObject({ error: { code: "payment_required" }, x402Version: 1 });
  const wrong = await fetch(server.url, { method: "POST", body: "refuse me" });
  expect([wrong.status, wrong.headers.get("PAYMENT-REQUIRED")]).toEqual([400, null]);
  const { "PAYMENT-SIGNATURE": signature } = payFor(empty);
  const paid = { method: "POST", body: "refuse me", headers: { "PAYMENT-SIGNATURE": signature } };
  const refused = await fetch(server.url, paid);
  expect(refused.status).toBe(400);
  expect(refused.headers.get("X-Payment-Id")).toMatch(/^pay_[0-9a-f]{32}$/);
  expect(facilitator.settled.size).toBe(0);
});

test("no address makes the challenge pass 8 KB: one that is too long is refused", async () => {
  await using server = await openServer(plain);
  for (const [more, status] of [
    ["a".repeat(3900), 402],
    ["a".repeat(4200), 400],
    ["\\".repeat(1900), 402],
    ["\\".repeat(2200), 400],
    ["a".repeat(9000), 400],
  ] as const) {
    const reply = await fetch(`${server.url}?x=${more}`, { method: "POST" });
    const header = reply.headers.get("PAYMENT-REQUIRED");
    expect([more.length, reply.status, header === null]).toEqual([more.length, status, status === 400]);
    expect(header?.length ?? 0).toBeLessThanOrEqual(8192);
  }
});

test("pages in browsers may read what pays, and the answer is not cached", async () => {
  await using server = await openServer(plain);
  const { reply } = await pay(server.url, "browser");
  expect(reply.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(reply.headers.get("Access-Control-Expose-Headers")).toContain("PAYMENT-RESPONSE");
  expect([reply.status, reply.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
});

test("a failure behind the settlement is no call to pay again: the same payment gets its answer", async () => {
  const failures = [
    new StorageError("the disk is full"),
    new Error("a secret of a bug"),
    new ApiError("upstream_failed", "No upstream answers. Nothing was charged."),
    new ApiError("rate_limited", undefined, { retryAfterSeconds: 30 }),
  ];
  let failing: readonly Error[] = [];
  const source: ByteSource = {
    flow: (sink) => {
      sink.write("streamed");
      sink.end();
    },
    pause: () => undefined,
    resume: () => undefined,
    cancel: () => undefined,
  };
  await using server = await openServer(async () => ({
    kind: "stream",
    cancel: () => undefined,
    start: () => {
      const [failure, ...later] = failing;
      failing = later;
      if (failure !== undefined) throw failure;
      return { status: 200, headers: {}, body: source, kept: Promise.resolve(null) };
    },
  }));
  for (const [n, failure] of failures.entries()) {
    const before = facilitator.settled.size;
    // Once where the payment is settled, and once where its answer is made again.
    failing = [failure, failure];
    const { headers, reply } = await pay(server.url, `fail ${n}`);
    const again = () => fetch(server.url, { method: "POST", body: `fail ${n}`, headers });
    for (const refused of [reply, await again()]) {
      expect([n, refused.status, refused.headers.get("x-should-retry")]).toEqual([n, 503, "false"]);
      expect(refused.headers.get("Retry-After")).toBe(n === 3 ? "30" : "2");
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("settlement_unknown");
      expect(error.message).toContain("Send the same payment again");
    }
    expect(await (await again()).text()).toBe("streamed");
    expect(facilitator.settled.size - before).toBe(1);
  }
  // Each is reported once of its payment, however often that is sent.
  expect(server.bugs).toEqual([failures[0], failures[1]]);
});

test("a refusal behind the settlement that no client repeats by itself keeps its reason", async () => {
  let isSold = true;
  await using server = await openServer(async () => {
    if (!isSold) throw new ApiError("not_found", "This model is not served any more.");
    const start = () => {
      throw new Error("lost");
    };
    return { kind: "stream", cancel: () => undefined, start };
  });
  const { headers } = await pay(server.url, "gone");
  isSold = false;
  const gone = await fetch(server.url, { method: "POST", body: "gone", headers });
  expect([gone.status, await gone.json()]).toEqual([
    404,
    { error: { code: "not_found", message: "This model is not served any more." } },
  ]);
});

const OTHER = `0x${"be".repeat(20)}`;
const SETTLED = { success: true, transaction: "0x1", network: "eip155:8453" };

/** What cannot be of this payment, and what its payer is told. */
const LIES: readonly (readonly [path: string, reply: object, code: string])[] = [
  ["verify", { isValid: true, payer: OTHER }, "upstream_failed"],
  ["verify", { isValid: "yes" }, "upstream_failed"],
  ["verify", [], "upstream_failed"],
  ["verify", { isValid: false, invalidReason: "insufficient_funds" }, "payment_invalid"],
  ["settle", { ...SETTLED, transaction: "" }, "settlement_unknown"],
  ["settle", { ...SETTLED, transaction: 7 }, "settlement_unknown"],
  ["settle", { ...SETTLED, network: "eip155:84532" }, "settlement_unknown"],
  ["settle", { ...SETTLED, amount: "1" }, "settlement_unknown"],
  ["settle", { ...SETTLED, success: "true" }, "settlement_unknown"],
  ["settle", { success: false, errorReason: "confirmation timed out" }, "settlement_unknown"],
  ["settle", {}, "settlement_unknown"],
];

test("a facilitator that lies is not believed: nothing is answered for it, and the payment stays good", async () => {
  await using server = await openServer(plain);
  for (const [n, [path, lie, code]] of LIES.entries()) {
    const before = facilitator.settled.size;
    facilitator.setFault((asked) => Response.json(asked === path ? lie : { isValid: true }));
    const { headers, reply } = await pay(server.url, `lie ${n}`);
    const { error } = (await reply.json()) as { error: { code: string } };
    expect([lie, error.code, facilitator.settled.size - before]).toEqual([lie, code, 0]);
    facilitator.setFault(null);
    const again = () => fetch(server.url, { method: "POST", body: `lie ${n}`, headers });
    let honest = await again();
    while (honest.status === 503 || honest.status === 409) honest = await again();
    expect([lie, honest.status, facilitator.settled.size - before]).toEqual([lie, 200, 1]);
  }
  expect(server.bugs).toEqual([]);
});

test("the payer is the one that signed, whatever the facilitator says of it", async () => {
  await using server = await openServer(plain);
  facilitator.setFault((path) =>
    Response.json(path === "settle" ? { ...SETTLED, payer: OTHER } : { isValid: true }),
  );
  const { reply } = await pay(server.url, "whose");
  expect(reply.status).toBe(200);
  const { payer } = JSON.parse(atob(reply.headers.get("PAYMENT-RESPONSE") ?? ""));
  const id = reply.headers.get("X-Payment-Id");
  const view = (await (await fetch(`${server.origin}/v1/payments/${id}`)).json()) as { payer: string };
  expect([payer === OTHER, view.payer]).toEqual([false, payer]);
});

/** What a payer may try; each is refused before the facilitator is asked to settle. */
const TRICKS: { readonly [trick: string]: (sent: SentByPayer) => object } = {
  "one unit too little": (sent) => withAuthorization(sent, { value: "49999" }),
  "one unit too much": (sent) => withAuthorization(sent, { value: "50001" }),
  "another payee": (sent) => withAuthorization(sent, { to: OTHER }),
  "an end that has passed": (sent) => withAuthorization(sent, { validBefore: "1" }),
  "a value in hexadecimal": (sent) => withAuthorization(sent, { value: "0xc350" }),
  "a nonce that is too short": (sent) => withAuthorization(sent, { nonce: "0x01" }),
  "the other network": (sent) => ({ ...sent, accepted: { ...sent.accepted, network: "eip155:84532" } }),
  "a network without a payee": (sent) => ({
    ...sent,
    accepted: { ...sent.accepted, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" },
  }),
  "another asset": (sent) => ({ ...sent, accepted: { ...sent.accepted, asset: OTHER } }),
  "another scheme": (sent) => ({ ...sent, accepted: { ...sent.accepted, scheme: "upto" } }),
};

type SentByPayer = {
  readonly accepted: object;
  readonly payload: { readonly authorization: object; readonly signature: string };
};

function withAuthorization(sent: SentByPayer, change: object): object {
  const { payload } = sent;
  return { ...sent, payload: { ...payload, authorization: { ...payload.authorization, ...change } } };
}

test("tricks of payers are refused, and nothing is worked for them", async () => {
  let worked = 0;
  await using server = await openServer(async (payment) => {
    worked += 1;
    return plain(payment);
  });
  const before = facilitator.settled.size;
  for (const [trick, change] of Object.entries(TRICKS)) {
    const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(server.url, { method: "POST", body: "t" }));
    const changed = btoa(JSON.stringify(change(JSON.parse(atob(signature)))));
    const headers = { "PAYMENT-SIGNATURE": changed };
    const reply = await fetch(server.url, { method: "POST", body: "t", headers });
    const { error } = (await reply.json()) as { error: { code: string } };
    expect([trick, reply.status, error.code]).toEqual([trick, 402, "payment_invalid"]);
  }
  expect([worked, facilitator.settled.size - before]).toEqual([0, 0]);
});

test("a nonce in another case is the same payment, and with another signature it buys nothing", async () => {
  await using server = await openServer(plain);
  const { headers, reply } = await pay(server.url, "case");
  expect(reply.status).toBe(200);
  const sent = JSON.parse(atob(headers["PAYMENT-SIGNATURE"])) as SentByPayer;
  const { nonce, from } = sent.payload.authorization as { nonce: string; from: string };
  const loud = { nonce: `0x${nonce.slice(2).toUpperCase()}`, from: `0x${from.slice(2).toUpperCase()}` };
  const send = async (value: object) => {
    const signature = btoa(JSON.stringify(value));
    return fetch(server.url, { method: "POST", body: "case", headers: { "PAYMENT-SIGNATURE": signature } });
  };
  const before = facilitator.settled.size;
  expect((await send(withAuthorization(sent, loud))).status).toBe(200);
  const forged = { ...sent, payload: { ...sent.payload, signature: `0x${"22".repeat(65)}` } };
  expect((await send(forged)).status).toBe(402);
  expect(facilitator.settled.size).toBe(before);
});

test("a payment of a megabyte is refused as any other", async () => {
  await using server = await openServer(plain);
  const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(server.url, { method: "POST", body: "m" }));
  const sent = JSON.parse(atob(signature));
  for (const value of [
    btoa("x".repeat(1_000_000)),
    btoa(JSON.stringify({ ...sent, more: "x".repeat(700_000) })),
  ]) {
    const call = { method: "POST", body: "m", headers: { "PAYMENT-SIGNATURE": value } };
    const status = await fetch(server.url, call).then(
      (reply) => reply.status,
      () => 431,
    );
    expect([402, 431]).toContain(status);
  }
  expect((await pay(server.url, "after")).reply.status).toBe(200);
});

/** A stream of parts that a test lets out one by one. */
function createSource(parts: number) {
  const released = Array.from({ length: parts }, () => Promise.withResolvers<void>());
  const seen = { started: 0, cancelled: 0, left: false };
  const work: PaidWork["work"] = async () => {
    await released[0]?.promise;
    return {
      kind: "stream",
      cancel: () => {
        seen.cancelled += 1;
      },
      start: ({ transaction }) => {
        seen.started += 1;
        const kept = Promise.withResolvers<KeptAnswer | null>();
        const pour = async (sink: SourceSink): Promise<void> => {
          let sent = "";
          const write = (part: string): void => {
            sent += part;
            sink.write(part);
          };
          write(`paid by ${transaction}\n`);
          for (const [n, part] of released.entries()) {
            await part.promise;
            if (seen.left) return;
            write(`part ${n}\n`);
          }
          kept.resolve({ status: 200, headers: { "Content-Type": "text/plain" }, body: sent });
          sink.end();
        };
        const body: ByteSource = {
          flow: (sink) => void pour(sink),
          pause: () => {},
          resume: () => {},
          cancel() {
            seen.left = true;
            kept.resolve(null);
          },
        };
        return { status: 200, headers: { "Content-Type": "text/plain" }, body, kept: kept.promise };
      },
    };
  };
  return { work, seen, release: (n: number) => released[n]?.resolve() };
}

test("a stream is paid when its first byte is there, and given again whole without a charge", async () => {
  const source = createSource(2);
  await using server = await openServer(source.work);
  const before = facilitator.settled.size;
  const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(server.url, { method: "POST", body: "s" }));
  const call = { method: "POST", body: "s", headers: { "PAYMENT-SIGNATURE": signature } };
  const waiting = fetch(server.url, call);
  while (server.payments.stats().inFlight === 0) await Bun.sleep(1);
  expect(facilitator.settled.size).toBe(before);
  source.release(0);
  const reply = await waiting;
  expect([reply.status, facilitator.settled.size]).toEqual([200, before + 1]);
  expect(reply.headers.get("PAYMENT-RESPONSE")).not.toBeNull();
  const reader = reply.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  expect(first).toStartWith("paid by 0x");
  const second = await fetch(server.url, call);
  expect([second.status, await second.json()]).toMatchObject([409, { error: { code: "payment_in_use" } }]);
  source.release(1);
  let whole = first;
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    whole += new TextDecoder().decode(part.value);
  }
  expect(whole).toEndWith("part 0\npart 1\n");
  const again = await fetch(server.url, call);
  expect([again.status, await again.text(), source.seen.started]).toEqual([200, whole, 1]);
  expect(facilitator.settled.size).toBe(before + 1);
  expect(server.bugs).toEqual([]);
});

test("a stream that cannot be started is stopped, and its payment buys the next", async () => {
  const source = createSource(1);
  source.release(0);
  let isBroken = true;
  await using server = await openServer(async (payment) => {
    const prepared = await source.work(payment);
    if (prepared.kind === "answer" || !isBroken) return prepared;
    const start = (): never => {
      throw new Error("no space left");
    };
    return { ...prepared, start };
  });
  const before = facilitator.settled.size;
  const { headers, reply } = await pay(server.url, "v");
  expect([reply.status, source.seen.cancelled]).toEqual([503, 1]);
  isBroken = false;
  const next = await fetch(server.url, { method: "POST", body: "v", headers });
  expect([next.status, await next.text()]).toEqual([200, expect.stringContaining("part 0")]);
  expect(facilitator.settled.size).toBe(before + 1);
});

test("a stream whose payment is not settled is cancelled, and one that is left ends its source", async () => {
  const refused = createSource(1);
  await using first = await openServer(refused.work);
  const body = "t";
  const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(first.url, { method: "POST", body }));
  const call = { method: "POST", body, headers: { "PAYMENT-SIGNATURE": signature } };
  const waiting = fetch(first.url, call);
  while (first.payments.stats().inFlight === 0) await Bun.sleep(1);
  facilitator.setFault(() => Response.json({ success: false, errorReason: "insufficient_funds" }));
  refused.release(0);
  expect([(await waiting).status, refused.seen.started, refused.seen.cancelled]).toEqual([402, 0, 1]);

  const left = createSource(2);
  await using second = await openServer(left.work);
  left.release(0);
  const { reply } = await pay(second.url, "u");
  const reader = reply.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  while (!left.seen.left) await Bun.sleep(1);
  expect(left.seen.started).toBe(1);
  left.release(1);
});
