import { afterAll, beforeAll, expect, test } from "bun:test";
import type { PaidWork } from "../../src/http/paid.ts";
import type { KeptAnswer } from "../../src/payments/kept-answer.ts";
import {
  MADE_UP_PAYEE,
  type MadeUpFacilitator,
  payFor,
  startMadeUpFacilitator,
} from "../support/made-up-facilitator.ts";
import { startPaidServer } from "../support/paid-server.ts";

/** What a route that is paid does, whatever it sells. Settlement itself is tested on chains. */

let facilitator: MadeUpFacilitator;
beforeAll(() => {
  facilitator = startMadeUpFacilitator();
});
afterAll(() => facilitator[Symbol.dispose]());

async function openServer(work: PaidWork["work"]) {
  facilitator.setFault(null);
  const server = startPaidServer({
    dataDir: null,
    facilitatorUrl: facilitator.url,
    payeeOnBase: MADE_UP_PAYEE,
    payeeOnSolana: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
    settleDeadlineMs: 500,
    work,
  });
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() });
}

const plain: PaidWork["work"] = async () => ({ kind: "answer", status: 200, headers: {}, body: '{"n":1}' });
const text = new TextEncoder();

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
  expect((await fetch(server.url, paid)).status).toBe(400);
  expect(facilitator.settled.size).toBe(0);
});

test("pages in browsers may read what pays, and the answer is not cached", async () => {
  await using server = await openServer(plain);
  const { reply } = await pay(server.url, "browser");
  expect(reply.headers.get("Access-Control-Allow-Origin")).toBe("*");
  expect(reply.headers.get("Access-Control-Expose-Headers")).toContain("PAYMENT-RESPONSE");
  expect([reply.status, reply.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
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
        let sent = `paid by ${transaction}\n`;
        const body = new ReadableStream<Uint8Array>(
          {
            async start(controller) {
              controller.enqueue(text.encode(sent));
              for (const [n, { promise }] of released.entries()) {
                await promise;
                if (seen.left) return;
                sent += `part ${n}\n`;
                controller.enqueue(text.encode(`part ${n}\n`));
              }
              controller.close();
              kept.resolve({ status: 200, headers: { "Content-Type": "text/plain" }, body: sent });
            },
            cancel() {
              seen.left = true;
              kept.resolve(null);
            },
          },
          { highWaterMark: 0 },
        );
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
