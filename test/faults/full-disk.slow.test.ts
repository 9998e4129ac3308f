import { expect, setDefaultTimeout, test } from "bun:test";
import { ERRORS } from "../../src/contract/errors.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { emailBatchOf, jsonOf } from "../support/json.ts";
import { startProcess, startShiftedProcess } from "../support/process.ts";
import { openStalled, requestText } from "../support/raw-http.ts";
import { refusalOf } from "../support/server.ts";
import { canMountDisks, mountSmallDisk } from "../support/small-disk.ts";

setDefaultTimeout(120_000);

const CHARGES_UNTIL_FULL_MAX = 20_000;
const DAY_MS = 86_400_000;

/** Charges until the disk takes no more; returns the units that were announced. */
async function chargeUntilRefused({ call }: Caller, key: string): Promise<number> {
  for (let units = 0; units < CHARGES_UNTIL_FULL_MAX; units += 1) {
    const reply = await call("/v1/phone/validate?phone=%2B442079460000", { key });
    if (reply.status === 200) {
      expect(reply.headers.get("X-Units-Charged")).toBe("1");
      await reply.json();
      continue;
    }
    expect(await refusalOf(reply)).toBe("503 storage_unavailable");
    return units;
  }
  throw new Error("The disk is never full");
}

/** A server on a small disk, and a caller with a key. */
async function openOnSmallDisk<Server extends AsyncDisposable & { readonly url: string }>(
  start: (environment: { readonly [name: string]: string }) => Promise<Server>,
) {
  await using stack = new AsyncDisposableStack();
  const disk = mountSmallDisk(24);
  stack.use(disk);
  const dns = stack.use(await startDns(FAULT_ZONE));
  const environment = { DATA_DIR: disk.path, DNS_SERVERS: dns.server.address };
  const server = stack.use(await start(environment));
  const caller = callerOf(server.url);
  const key = await caller.signUp();
  const opened = stack.move();
  return { disk, environment, server, caller, key, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const addresses = (count: number) => Array.from({ length: count }, (_, at) => `b${at}@d${at % 50}.many.com`);

test.skipIf(!canMountDisks)(
  "on a full disk writes are refused with 503, reads go on, and the server recovers by itself once there is room",
  async () => {
    await using opened = await openOnSmallDisk(startProcess);
    const { disk, server, caller, key } = opened;
    const { call, signUp, unitsOf } = caller;
    await until("directory", async () => (await call("/v1/directory?limit=1")).status === 200);
    disk.fill();
    let announced = await chargeUntilRefused(caller, key);

    const writes: [path: string, body: unknown, headers?: { [name: string]: string }][] = [
      ["/v1/email/verify", { email: "someone@good.com" }],
      ["/v1/identity/validate", { type: "ean13", value: "4006381333931" }],
      ["/v1/email/batch", { emails: addresses(100) }],
      ["/v1/email/batch", { emails: addresses(5000) }],
      ["/v1/email/batch", { emails: addresses(5000) }, { "Idempotency-Key": "full-disk-batch" }],
      ["/v1/email/verify", { email: "someone@good.com" }, { "Idempotency-Key": "full-disk" }],
      ["/v1/account/plan", { plan: "growth" }],
      ["/v1/account/keys/rotate", { overlap_seconds: 60 }],
    ];
    for (const [path, body, headers] of writes) {
      const reply = await call(path, { key, body, headers: headers ?? {} });
      expect(`${path} ${await refusalOf(reply)}`).toBe(`${path} 503 storage_unavailable`);
      expect(Number(reply.headers.get("Retry-After"))).toBe(ERRORS.storage_unavailable.retryAfterSeconds);
      expect(reply.headers.get("X-Units-Charged")).toBe("0");
    }
    const signup = await call("/v1/signup", { body: { email: "late@good.com" } });
    expect(await refusalOf(signup)).toBe("503 storage_unavailable");

    for (const path of ["/healthz", "/v1/plans", "/v1/directory?limit=1", "/metrics"]) {
      expect(`${path} ${(await call(path)).status}`).toBe(`${path} 200`);
    }
    for (const path of ["/v1/account", "/v1/account/usage", "/v1/account/invoices"]) {
      expect(`${path} ${(await call(path, { key })).status}`).toBe(`${path} 200`);
    }
    const health = await call("/health");
    const { status, checks } = await jsonOf<{ status: string; checks: { database: { status: string } } }>(
      health,
    );
    expect([health.status, status, checks.database.status]).toEqual([503, "failing", "fail"]);
    expect(await unitsOf(key)).toBe(announced);

    disk.free();
    await until("healthy answer", async () => (await call("/health")).status === 200);
    const batch = await call("/v1/email/batch", {
      key,
      body: { emails: addresses(5000) },
      headers: { "Idempotency-Key": "full-disk-batch" },
    });
    expect(batch.headers.get("Idempotent-Replayed")).toBeNull();
    expect((await emailBatchOf(batch)).summary.units_charged).toBe(5000);
    announced += 5000;
    for (const replayed of [null, "true"]) {
      const reply = await call("/v1/email/verify", {
        key,
        body: { email: "someone@good.com" },
        headers: { "Idempotency-Key": "full-disk" },
      });
      expect([reply.status, reply.headers.get("Idempotent-Replayed")]).toEqual([200, replayed]);
      await reply.json();
    }
    announced += 1;
    expect(await unitsOf(key)).toBe(announced);
    await signUp();
    expect(server.logged()).toEqual([]);

    expect(await server.end("SIGTERM")).toBe(0);
    await using next = await startProcess(opened.environment);
    expect(await callerOf(next.url).unitsOf(key)).toBe(announced);
  },
);

test.skipIf(!canMountDisks)(
  "a disk that fills up during a batch breaks its reply off; the results that were read are charged, the rest is not",
  async () => {
    await using opened = await openOnSmallDisk(startProcess);
    const { disk, server, caller, key } = opened;
    const otherKey = await caller.signUp();
    const items = 100_000;
    using reader = openStalled(
      server.url,
      requestText("/v1/email/batch", {
        key,
        headers: ["Accept: application/x-ndjson"],
        body: JSON.stringify({ emails: addresses(items) }),
      }),
      100_000,
    );
    await until("first bytes", () => reader.bytes() > 0);
    disk.fill();
    await chargeUntilRefused(caller, otherKey);
    reader.readUpTo(Number.POSITIVE_INFINITY);
    await until("end of the reply", () => reader.isClosed());
    expect(reader.end()).not.toContain("summary");
    const lastRead = Math.max(...[...reader.end().matchAll(/"email":"b(\d+)@/g)].map(([, at]) => Number(at)));

    disk.free();
    await until("healthy answer", async () => (await caller.call("/health")).status === 200);
    const units = await caller.unitsOf(key);
    process.stdout.write(`disk full in a batch: ${lastRead} of ${items} read, ${units} charged\n`);
    expect(units).toBeGreaterThanOrEqual(lastRead);
    expect(units).toBeLessThan(items);
    expect(units % 1000).toBe(0);
  },
);

test.skipIf(!canMountDisks)(
  "the turn of a month on a full disk is refused with 503 like any other write, and is made up for once there is room",
  async () => {
    await using opened = await openOnSmallDisk(startShiftedProcess);
    const { disk, server, caller, key } = opened;
    const { call, unitsOf } = caller;
    disk.fill();
    await chargeUntilRefused(caller, key);
    await server.shiftClock(31 * DAY_MS);
    for (const path of ["/v1/phone/validate?phone=%2B442079460000", "/v1/phone/validate", "/v1/account"]) {
      const reply = await call(path, { key });
      expect(reply.headers.get("X-Request-Id")).toStartWith("req_");
      expect(reply.headers.get("X-Units-Charged")).toBe("0");
      expect(await refusalOf(reply)).toBe(
        path === "/v1/phone/validate" ? "400 invalid_request" : "503 storage_unavailable",
      );
    }
    disk.free();
    await until("healthy answer", async () => (await call("/health")).status === 200);
    expect(await unitsOf(key)).toBe(0);
  },
);
