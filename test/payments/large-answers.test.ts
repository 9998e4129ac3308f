import { expect, test } from "bun:test";
import type { Facilitator } from "../../src/payments/facilitator.ts";
import type { KeptAnswer } from "../../src/payments/kept-answer.ts";
import { createLargeRepetitions } from "../../src/payments/large-repetitions.ts";
import { findNetwork } from "../../src/payments/networks.ts";
import type { PaidCall } from "../../src/payments/paid-call.ts";
import { createPayments } from "../../src/payments/payments.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createFairTurns, type FairTurns } from "../../src/platform/fair-turns.ts";
import type { PaymentStore } from "../../src/store/payment-port.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { handClock } from "../billing/accounting.ts";
import { until } from "../support/caller.ts";
import { payFor, startMadeUpFacilitator } from "../support/made-up-facilitator.ts";
import { startMadeUpPaidServer } from "../support/made-up-paid-server.ts";

/** Answers of megabytes, which hold up no other call, however often their payment is sent again. */

const LENGTH = 4_000_000;
const LARGE = JSON.stringify({ text: "x".repeat(LENGTH) });
const FACILITATOR: Facilitator = {
  verify: async () => ({ kind: "valid", payer: null }),
  settle: async () => ({ kind: "settled", transaction: "0x1", payer: null }),
  feePayers: async () => null,
};

const CALL: Pick<PaidCall, "tenant" | "offer" | "request"> = {
  tenant: "192.0.2.1",
  offer: { resource: { url: "https://a.example/", description: "", mimeType: "" }, priceMicroUsd: 10_000 },
  request: "asked",
};

/** Payments on a journal, whose facilitator takes all of them. */
function openPaymentsOn(store: PaymentStore, turns: FairTurns) {
  const network = findNetwork("base");
  if (network === null) throw new Error("no network base");
  return createPayments(
    {
      ...{ store, facilitator: FACILITATOR, clock: systemClock, turns },
      reportError: (error) => expect(error).toBeNull(),
    },
    {
      payees: [{ network, payTo: `0x${"bb".repeat(20)}` }],
      ...{ pollDelayMs: 60_000, inFlightMax: 9, inFlightPerPayerMax: 9 },
    },
  );
}

test("a large answer is kept and given again in turns of its payer, one step in each, and a small one at once", async () => {
  using database = openPayments(null, systemClock);
  let turns: string[] = [];
  const payments = openPaymentsOn(database.payments, {
    turnOf: async (tenant) => void turns.push(tenant),
  });
  for (const { body, isLarge } of [
    { body: LARGE, isLarge: true },
    { body: "{}", isLarge: false },
  ]) {
    const call: PaidCall = {
      ...CALL,
      headers: new Headers(),
      work: async () => ({ kind: "answer", status: 200, headers: {}, body }),
    };
    const { headers } = await payments.take(call);
    const { payer, ...paying } = payFor(new Response("", { headers }));
    for (const settlementTurns of [2, 0]) {
      turns = [];
      const reply = await payments.take({ ...call, headers: new Headers(paying) });
      expect([reply.status, reply.body === body]).toEqual([200, true]);
      expect([isLarge, turns.length - settlementTurns >= 4]).toEqual([isLarge, isLarge]);
      expect(turns.filter((tenant) => tenant !== payer)).toEqual([]);
    }
  }
  await payments[Symbol.asyncDispose]();
});

test("the answer of a large stream that has ended is kept, though the service ends behind it", async () => {
  using database = openPayments(null, systemClock);
  const payments = openPaymentsOn(database.payments, createFairTurns(systemClock.monotonic));
  const stream = Promise.withResolvers<KeptAnswer>();
  const call: PaidCall = {
    ...CALL,
    headers: new Headers(),
    work: async () => ({
      kind: "stream",
      start: () => ({ status: 200, headers: {}, body: "", kept: stream.promise }),
      cancel: () => {},
    }),
  };
  const { headers } = await payments.take(call);
  const { payer: _, ...paying } = payFor(new Response("", { headers }));
  let paymentId = "";
  const onPayment = (id: string) => {
    paymentId = id;
  };
  expect((await payments.take({ ...call, onPayment, headers: new Headers(paying) })).status).toBe(200);
  expect(database.payments.answerLength(paymentId)).toBe(0);
  stream.resolve({ status: 200, headers: {}, body: LARGE });
  await payments[Symbol.asyncDispose]();
  expect(database.payments.answerLength(paymentId)).toBeGreaterThan(0);
});

test("of large answers a client address is given two at a time again, and no payment has to be made anew", async () => {
  using facilitator = startMadeUpFacilitator();
  const server = startMadeUpPaidServer(facilitator, async () => ({
    ...{ kind: "answer", status: 200, headers: {}, body: LARGE },
  }));
  try {
    const send = (headers: { readonly [name: string]: string } = {}, address = "192.0.2.1") =>
      fetch(server.url, { method: "POST", body: "x", headers: { "X-Forwarded-For": address, ...headers } });
    const buy = async () => {
      const { "PAYMENT-SIGNATURE": signature } = payFor(await send());
      const headers = { "PAYMENT-SIGNATURE": signature };
      expect((await send(headers)).status).toBe(200);
      return headers;
    };
    const bought = [await buy(), await buy(), await buy(), await buy()];
    const replies = await Promise.all(bought.map((headers) => send(headers)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 503, 503]);
    const refused = replies.find(({ status }) => status === 503);
    expect(refused?.headers.get("Retry-After")).toBe("2");
    expect(refused?.headers.get("x-should-retry")).toBe("false");
    expect(await refused?.json()).toMatchObject({ error: { code: "settlement_unknown" } });
    expect((await send(bought[0], "192.0.2.2")).status).toBe(200);
    for (const headers of bought) {
      await until("answer", async () => (await (await send(headers)).text()) === LARGE);
    }
    expect(facilitator.settled.size).toBe(4);
    expect(server.bugs).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("a place for a large answer rests for a second; the service itself waits for one of its own", async () => {
  const clock = handClock();
  const repetitions = createLargeRepetitions(clock);
  const work = async () => "done";
  const refused = { code: "rate_limited", retryAfterSeconds: 1 };
  expect([await repetitions.inPlace("one", work), await repetitions.inPlace("one", work)]).toEqual([
    "done",
    "done",
  ]);
  await expect(repetitions.inPlace("one", work)).rejects.toMatchObject(refused);
  const failing = repetitions.inPlace("two", () => Promise.reject(new Error("broken")));
  await expect(failing).rejects.toThrow("broken");
  clock.advance(999);
  await expect(repetitions.inPlace("one", work)).rejects.toMatchObject(refused);
  clock.advance(1);
  expect(await repetitions.inPlace("one", work)).toBe("done");
  const going = Promise.withResolvers<void>();
  let begun = 0;
  const own = Array.from({ length: 5 }, () =>
    repetitions.inPlace(undefined, async () => {
      begun += 1;
      await going.promise;
    }),
  );
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(begun).toBe(2);
  going.resolve();
  await Promise.all(own);
  expect(begun).toBe(5);
});

test("however many addresses repeat large answers all the time, another's turn comes, four at a time in all", async () => {
  const repetitions = createLargeRepetitions(handClock());
  const going = Promise.withResolvers<void>();
  let working = 0;
  let workingMax = 0;
  const repeat = (tenant: string) =>
    repetitions.inPlace(tenant, async () => {
      working += 1;
      workingMax = Math.max(workingMax, working);
      await going.promise;
      working -= 1;
      return tenant;
    });
  const many = Array.from({ length: 50 }, (_, n) => [repeat(`many ${n}`), repeat(`many ${n}`)]).flat();
  const another = repeat("another");
  going.resolve();
  expect(await another).toBe("another");
  await Promise.all(many);
  expect([working, workingMax]).toEqual([0, 4]);
});

test("a wait for a place ends at its deadline, and leaves the place of its address to the next", async () => {
  let late = new AbortController();
  const repetitions = createLargeRepetitions(handClock(), () => late.signal);
  const going = Promise.withResolvers<void>();
  const others = ["1", "1", "2", "2"].map((tenant) => repetitions.inPlace(tenant, () => going.promise));
  const waiting = ["one", "one"].map((tenant) => repetitions.inPlace(tenant, async () => "done"));
  late.abort();
  late = new AbortController();
  const reason = expect.objectContaining({ code: "rate_limited" });
  expect(await Promise.allSettled(waiting)).toEqual(Array(2).fill({ status: "rejected", reason }));
  const next = repetitions.inPlace("one", async () => "done");
  going.resolve();
  expect(await next).toBe("done");
  await Promise.all(others);
});

test("the addresses that are counted are bounded", async () => {
  const clock = handClock();
  const repetitions = createLargeRepetitions(clock);
  const repeat = (tenant: string) => repetitions.inPlace(tenant, async () => tenant);
  for (let n = 0; n < 1000; n += 1) await repeat(`${n}`);
  await expect(repeat("late")).rejects.toMatchObject({ code: "rate_limited" });
  expect(await repeat("1")).toBe("1");
  clock.advance(1000);
  expect(await repeat("late")).toBe("late");
});
