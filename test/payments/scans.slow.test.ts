import { afterAll, expect, test } from "bun:test";
import type { ScanReply } from "../../src/contract/specification/directory/scan.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { startScanServer } from "../scan/scan-server.ts";
import { jsonOf } from "../support/json.ts";
import {
  auditService,
  openWorld,
  type PaidRequest,
  type PaymentWorld,
  type WorldPayer,
} from "../support/payment-world.ts";

/** Scans that are paid for real, many at once, on local chains. */

const PRICE = 50_000n;
/** `PAID_SCANS=500 SCAN_ORIGINS=20` for more. */
const SCANS = Number(process.env.PAID_SCANS ?? 40);
const ORIGINS = Number(process.env.SCAN_ORIGINS ?? 5);
const opened = await openWorld();
afterAll(() => opened?.[Symbol.asyncDispose]());

function startServer({ facilitator, payeeOnBase, payeeOnSolana }: PaymentWorld, patienceMs?: number) {
  const environment = {
    PAY_TO_EVM: payeeOnBase,
    PAY_TO_SOLANA: payeeOnSolana,
    // All payers call from one address.
    PUBLIC_REQUESTS_PER_SECOND: "100000",
  };
  const patience = patienceMs === undefined ? {} : { patienceMs };
  return startScanServer({ facilitatorUrl: facilitator.url, environment, ...patience });
}

async function newPayers(world: PaymentWorld): Promise<WorldPayer[]> {
  const funds = 2n * PRICE;
  return Promise.all(
    Array.from({ length: SCANS }, (_, n) =>
      n % 10 === 9 ? world.newSolanaPayer(funds) : world.newBasePayer(funds),
    ),
  );
}

const total = async (world: PaymentWorld) => {
  const { base, solana } = await world.received();
  return base + solana;
};

/** Origins that a test owns, each with the count of requests that it got. */
function startOrigins(count: number) {
  const servers = Array.from({ length: count }, () => {
    const seen = { requests: 0 };
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        seen.requests += 1;
        return new Response("nothing", { status: 404 });
      },
    });
    return { origin: server.url.origin, seen, server };
  });
  return Object.assign(servers, {
    [Symbol.dispose]: () => {
      for (const { server } of servers) server.stop(true);
    },
  });
}

test.skipIf(opened === null)(
  `${SCANS} concurrent paid scans of ${ORIGINS} origins: one scan of each, each payer charged once`,
  async () => {
    const world = opened;
    if (world === null) return;
    await using server = await startServer(world);
    using origins = startOrigins(ORIGINS);
    const payers = await newPayers(world);
    const before = await total(world);
    // Signed before, so that the calls are concurrent and not the arithmetic of their payers.
    const calls: PaidRequest[] = [];
    for (const [n, payer] of payers.entries()) {
      const body = JSON.stringify({ origin: origins[n % ORIGINS]?.origin });
      calls.push(await payer.sign(`${server.url}/v1/scan`, body, "application/json"));
    }
    const startedMs = performance.now();
    const replies = await Promise.all(calls.map(({ url, ...call }) => fetch(url, call)));
    const tookMs = performance.now() - startedMs;
    const scans = await Promise.all(replies.map((reply) => jsonOf<ScanReply>(reply)));
    const others = replies.flatMap(({ status }, n) => (status === 200 ? [] : [{ status, said: scans[n] }]));
    expect(others).toEqual([]);
    const charged = await Promise.all(payers.map(async (payer) => 2n * PRICE - (await payer.balance())));
    expect(charged.filter((amount) => amount !== PRICE)).toEqual([]);
    expect((await total(world)) - before).toBe(BigInt(SCANS) * PRICE);
    expect(new Set(scans.map(({ report_id: id }) => id)).size).toBe(ORIGINS);
    expect(scans.filter(({ joined }) => !joined)).toHaveLength(ORIGINS);
    for (const { seen } of origins) expect(seen.requests).toBeLessThanOrEqual(26);
    using database = openPayments(server.dataDir, systemClock);
    expect(database.payments.settledTotals()).toEqual({ count: SCANS, microUsd: SCANS * Number(PRICE) });
    expect(server.logged()).toBe("");
    console.log(
      `scans: ${SCANS} paid calls of ${ORIGINS} origins in ${Math.round(tookMs)} ms, ${ORIGINS} scans, ${SCANS} charged once`,
    );
  },
  600_000,
);

test.skipIf(opened === null)(
  "refusals and errors leave the payee's balance as it was, on both networks",
  async () => {
    const world = opened;
    if (world === null) return;
    await using server = await startServer(world);
    using origins = startOrigins(2);
    const before = await total(world);
    const payers = [await world.newBasePayer(2n * PRICE), await world.newSolanaPayer(2n * PRICE)];
    for (const [n, payer] of payers.entries()) {
      const url = `${server.url}/v1/scan`;
      const scan = (body: string) =>
        payer.fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      for (const body of ['{"origin":"ftp://x.example"}', '{"origin":""}', "{", "[]"]) {
        expect([body, (await scan(body)).status]).toEqual([body, 400]);
      }
      const good = JSON.stringify({ origin: origins[n]?.origin });
      // Signed for one body and sent with another that is refused.
      const signed = await payer.sign(url, good, "application/json");
      expect((await fetch(url, { ...signed, body: '{"origin":"http://[::1"}' })).status).toBe(400);
      await world.facilitator.setFault("down");
      expect((await scan(good)).status).toBe(502);
      await world.facilitator.setFault(null);
      expect([n, (await total(world)) - before, await payer.balance()]).toEqual([n, 0n, 2n * PRICE]);
    }
  },
);

test.skipIf(opened === null)(
  "a 504 leaves balances as they were; the same payment then buys the scan once",
  async () => {
    const world = opened;
    if (world === null) return;
    await using server = await startServer(world, 300);
    const { promise, resolve } = Promise.withResolvers<void>();
    using slow = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async () => {
        await promise;
        return new Response("nothing", { status: 404 });
      },
    });
    const payers = [await world.newBasePayer(2n * PRICE), await world.newSolanaPayer(2n * PRICE)];
    const before = await total(world);
    const calls: PaidRequest[] = [];
    for (const payer of payers) {
      const body = JSON.stringify({ origin: slow.url.origin });
      calls.push(await payer.sign(`${server.url}/v1/scan`, body, "application/json"));
    }
    const send = ({ url, ...call }: PaidRequest) => fetch(url, call);
    const charged = () => Promise.all(payers.map(async (payer) => 2n * PRICE - (await payer.balance())));
    const late = await Promise.all(calls.map(send));
    expect(late.map(({ status }) => status)).toEqual([504, 504]);
    expect([await charged(), (await total(world)) - before]).toEqual([[0n, 0n], 0n]);
    resolve();
    for (const call of calls) {
      let reply = await send(call);
      while (reply.status === 504) reply = await send(call);
      expect([reply.status, (await send(call)).status]).toEqual([200, 200]);
    }
    expect([await charged(), (await total(world)) - before]).toEqual([[PRICE, PRICE], 2n * PRICE]);
  },
);

test("the audit of AgentCash finds nothing wrong with the scanning service", async () => {
  await using server = await startScanServer({
    facilitatorUrl: opened?.facilitator.url ?? "http://127.0.0.1:1",
  });
  const found = await auditService(server.url);
  if (found === null) return console.log("payments: the audit of AgentCash is skipped");
  console.log(
    `payments: the audit of AgentCash says of the scanning service: ${found.join(", ") || "nothing"}`,
  );
  expect(found).toEqual([]);
});
