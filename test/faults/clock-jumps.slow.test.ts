import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { checkBooks } from "../billing/books.ts";
import { type Caller, callerOf, FAULT_ZONE } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { jsonOf } from "../support/json.ts";
import { midMonthOffsetMs, startShiftedProcess, temporaryFolder } from "../support/process.ts";
import { refusalOf } from "../support/server.ts";

setDefaultTimeout(120_000);

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const JUMPS_MS = [HOUR_MS, 0, -HOUR_MS, 0, HOUR_MS, -HOUR_MS, 0];
const CHECK = "/v1/phone/validate?phone=%2B442079460000";

type Tally = { charged: number; refused: number };

/** Reads the limits off a reply: none may be negative, none may send a caller away for long. */
function checkLimits(reply: Response): void {
  const limits = [...(reply.headers.get("RateLimit") ?? "").matchAll(/"(\w+)";r=(-?\d+);t=(-?\d+)/g)];
  expect(limits.map(([, name]) => name)).toEqual(["burst", "month"]);
  for (const [, , left, seconds] of limits) {
    expect(Number(left)).toBeGreaterThanOrEqual(0);
    expect(Number(seconds)).toBeGreaterThanOrEqual(0);
  }
  expect(Number(limits[0]?.[3])).toBeLessThanOrEqual(3);
  const remaining = reply.headers.get("X-Units-Remaining");
  if (remaining !== null) expect(Number(remaining)).toBeGreaterThanOrEqual(0);
}

async function callUntil(done: () => boolean, { call }: Caller, key: string): Promise<Tally> {
  const tally = { charged: 0, refused: 0 };
  while (!done()) {
    const reply = await call(CHECK, { key });
    checkLimits(reply);
    if (reply.status === 200) {
      tally.charged += 1;
      await reply.json();
      continue;
    }
    expect(await refusalOf(reply)).toBe("429 rate_limited");
    expect(reply.headers.get("Retry-After")).toBe("1");
    tally.refused += 1;
  }
  return tally;
}

describe("clock jumps of an hour", () => {
  test("lose no charge, lock no caller out and let none exceed the rate", async () => {
    using folder = temporaryFolder("clock");
    await using dns = await startDns(FAULT_ZONE);
    const offsetMs = midMonthOffsetMs();
    await using server = await startShiftedProcess({
      DATA_DIR: folder.path,
      DNS_SERVERS: dns.server.address,
      TEST_CLOCK_OFFSET_MS: `${offsetMs}`,
    });
    const caller = callerOf(server.url);
    const [free, scale] = await Promise.all([caller.signUp("free"), caller.signUp("scale")]);
    let isDone = false;
    const startedMs = performance.now();
    const work = Promise.all([free, scale].map((key) => callUntil(() => isDone, caller, key)));
    for (const jumpMs of JUMPS_MS) {
      await server.shiftClock(offsetMs + jumpMs);
      for (let count = 0; count < 80; count += 1) await caller.call("/v1/account", { key: scale });
    }
    isDone = true;
    const [freeTally, scaleTally] = await work;
    const seconds = (performance.now() - startedMs) / 1000;
    process.stdout.write(
      `${JUMPS_MS.length} jumps in ${seconds.toFixed(2)} s: ${freeTally?.charged} and ${scaleTally?.charged} charges\n`,
    );
    // The free plan: a burst of 20, then 10 a second, by time that passes and not by what the clock shows.
    expect(freeTally?.charged).toBeGreaterThanOrEqual(20);
    expect(freeTally?.charged).toBeLessThanOrEqual(Math.ceil(20 + 10 * seconds));
    expect(freeTally?.refused).toBeGreaterThan(0);
    expect(scaleTally?.refused).toBe(0);
    expect(await caller.unitsOf(free)).toBe(freeTally?.charged ?? Number.NaN);
    expect(await caller.unitsOf(scale)).toBe(scaleTally?.charged ?? Number.NaN);
    await server.end("SIGKILL");
    checkBooks(join(folder.path, "assay.db"), new Map(), (totals) => expect(totals.size).toBe(2));
  });

  test("across the turn of a month neither return units nor bill any twice", async () => {
    using folder = temporaryFolder("clock");
    await using dns = await startDns(FAULT_ZONE);
    const turn = Date.UTC(2027, 2, 1);
    const offsetTo = (time: number) => time - Date.now();
    const environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.server.address };
    await using server = await startShiftedProcess({
      ...environment,
      TEST_CLOCK_OFFSET_MS: `${offsetTo(turn - HOUR_MS / 2)}`,
    });
    const caller = callerOf(server.url);
    const key = await caller.signUp("free");
    const charge = async (count: number) => {
      const items = Array.from({ length: count }, (_, at) => `+44207946${1000 + at}`);
      const reply = await caller.call("/v1/phone/batch", { key, body: { phones: items } });
      return `${reply.status} ${reply.status === 200 ? reply.headers.get("X-Units-Remaining") : await refusalOf(reply)}`;
    };
    for (let left = 900; left >= 400; left -= 100) expect(await charge(100)).toBe(`200 ${left}`);

    await server.shiftClock(offsetTo(turn + HOUR_MS / 2));
    expect(await charge(100)).toBe("200 900");
    // Back in the old month: the new one has begun and stays.
    await server.shiftClock(offsetTo(turn - HOUR_MS / 2));
    for (let left = 800; left >= 0; left -= 100) expect(await charge(100)).toBe(`200 ${left}`);
    expect(await charge(1)).toBe("402 402 quota_exceeded");
    const refused = await caller.call(CHECK, { key });
    checkLimits(refused);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    await server.shiftClock(offsetTo(turn + HOUR_MS / 2));
    expect(await charge(1)).toBe("402 402 quota_exceeded");
    await server.end("SIGKILL");

    // A start with the clock in the old month finds the new one, and stays in it.
    const early = await startShiftedProcess({
      ...environment,
      TEST_CLOCK_OFFSET_MS: `${offsetTo(turn - HOUR_MS / 2)}`,
    });
    const refusedAgain = await callerOf(early.url).call(CHECK, { key });
    expect(await refusalOf(refusedAgain)).toBe("402 quota_exceeded");
    checkLimits(refusedAgain);
    expect(await callerOf(early.url).unitsOf(key)).toBe(1000);
    await early.end("SIGKILL");

    await using next = await startShiftedProcess({
      ...environment,
      TEST_CLOCK_OFFSET_MS: `${offsetTo(turn + HOUR_MS)}`,
    });
    const { call, unitsOf } = callerOf(next.url);
    expect(await unitsOf(key)).toBe(1000);
    const invoices = await jsonOf<{ data: { lines: { description: string; quantity: number }[] }[] }>(
      await call("/v1/account/invoices", { key }),
    );
    expect(invoices.data.length).toBe(1);
    const units = invoices.data[0]?.lines.find(({ description }) => description.includes(": "))?.quantity;
    expect(units).toBe(600);
    checkBooks(join(folder.path, "assay.db"), new Map(), (totals) => expect(totals.size).toBe(1));
  });

  test("do not forget an Idempotency-Key", async () => {
    using folder = temporaryFolder("clock");
    await using dns = await startDns(FAULT_ZONE);
    const offsetMs = midMonthOffsetMs();
    await using server = await startShiftedProcess({
      DATA_DIR: folder.path,
      DNS_SERVERS: dns.server.address,
      TEST_CLOCK_OFFSET_MS: `${offsetMs}`,
    });
    const { call, signUp, unitsOf } = callerOf(server.url);
    const key = await signUp();
    for (const [position, jumpMs] of [0, HOUR_MS, -HOUR_MS, 0].entries()) {
      await server.shiftClock(offsetMs + jumpMs);
      const reply = await call("/v1/phone/validate", {
        key,
        body: { phone: "+442079460000" },
        headers: { "Idempotency-Key": "jumping" },
      });
      expect([reply.status, reply.headers.get("Idempotent-Replayed")]).toEqual([
        200,
        position === 0 ? null : "true",
      ]);
      await reply.json();
    }
    expect(await unitsOf(key)).toBe(1);
  });
});

describe("a clock that jumps by a year", () => {
  test("expires nothing: kept replies, results of jobs and deliveries stay, also after a start with it", async () => {
    using folder = temporaryFolder("clock");
    await using dns = await startDns(FAULT_ZONE);
    const offsetMs = midMonthOffsetMs();
    const start = (jumpMs: number) =>
      startShiftedProcess({
        DATA_DIR: folder.path,
        DNS_SERVERS: dns.server.address,
        TEST_CLOCK_OFFSET_MS: `${offsetMs + jumpMs}`,
      });
    const phones = Array.from({ length: 40 }, (_, at) => `+44207946${1000 + at}`);
    const send = ({ call }: Caller, key: string) =>
      call("/v1/phone/batch", { key, body: { phones }, headers: { "Idempotency-Key": "a year" } });
    await using server = await start(0);
    const caller = callerOf(server.url);
    const key = await caller.signUp();
    const kept = await (await send(caller, key)).text();
    const { job_id } = await jsonOf<{ job_id: string }>(
      await caller.call("/v1/jobs?kind=phone", {
        key,
        body: phones.join("\n"),
        headers: { "Content-Type": "text/plain" },
      }),
    );
    // The stream of events ends with the job.
    await (await caller.call(`/v1/jobs/${job_id}/events`, { key })).text();
    const hook = await jsonOf<{ webhook_id: string }>(
      await caller.call("/v1/webhooks", { key, body: { url: "https://hooks.good.com/in" } }),
    );
    await (await caller.call(`/v1/webhooks/${hook.webhook_id}/test`, { key, body: {} })).text();
    const resultsOf = async ({ call }: Caller) =>
      (await call(`/v1/jobs/${job_id}/results?format=json`, { key })).text();
    const deliveriesOf = async ({ call }: Caller) =>
      (
        await jsonOf<{ data: { delivery_id: string }[] }>(
          await call(`/v1/webhooks/${hook.webhook_id}/deliveries`, { key }),
        )
      ).data.map(({ delivery_id }) => delivery_id);
    const results = await resultsOf(caller);
    const deliveries = await deliveriesOf(caller);
    expect(deliveries).toHaveLength(1);
    const expectKept = async (other: Caller) => {
      const again = await send(other, key);
      expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([200, "true"]);
      expect(await again.text()).toBe(kept);
      expect(await resultsOf(other)).toBe(results);
    };

    await server.shiftClock(offsetMs + YEAR_MS);
    await expectKept(caller);
    await server.end("SIGKILL");
    const jumped = await start(YEAR_MS);
    await expectKept(callerOf(jumped.url));
    await jumped.end("SIGTERM");
    await using right = await start(0);
    await expectKept(callerOf(right.url));
    expect(await deliveriesOf(callerOf(right.url))).toEqual(deliveries);
    expect(await callerOf(right.url).unitsOf(key)).toBe(phones.length * 2);
  });
});
