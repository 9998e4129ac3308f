import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Caller, callerOf, FAULT_ZONE } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../support/process.ts";
import { refusalOf } from "../support/server.ts";

setDefaultTimeout(120_000);

const CALLS = 100;

const folder = temporaryFolder("idempotency");
let dns: Awaited<ReturnType<typeof startDns>>;
let environment: { readonly [name: string]: string };
let server: ServerProcess;
let caller: Caller;

beforeAll(async () => {
  // Slow enough that calls really meet.
  dns = await startDns(`${FAULT_ZONE}slow.com MX 10 mx.good.com\nslow.com !delay 200\n`);
  environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.server.address, SIGNUPS_PER_MINUTE: "1000" };
  server = await startProcess(environment);
  caller = callerOf(server.url);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const batch = (items: number) => ({
  emails: Array.from({ length: items }, (_, at) => `a${at}@${at % 2 === 0 ? "slow" : "good"}.com`),
});

const KINDS: readonly { name: string; path: string; body: unknown; other: unknown; units: number }[] = [
  {
    name: "a single check",
    path: "/v1/email/verify",
    body: { email: "someone@slow.com" },
    other: { email: "another@slow.com" },
    units: 1,
  },
  { name: "a small batch", path: "/v1/email/batch", body: batch(40), other: batch(41), units: 40 },
  { name: "a large batch", path: "/v1/email/batch", body: batch(5000), other: batch(5001), units: 5000 },
];

describe("100 calls at once with one Idempotency-Key", () => {
  for (const { name, path, body, other, units } of KINDS) {
    test(`run ${name} once and charge it once`, async () => {
      const key = await caller.signUp();
      const headers = { "Idempotency-Key": `"once-${units}"` };
      const send = (sent: unknown) => caller.call(path, { key, body: sent, headers });
      const replies = await Promise.all(
        Array.from({ length: CALLS }, async () => {
          const reply = await send(body);
          return { reply, text: await reply.text() };
        }),
      );
      const ran = replies.filter(
        ({ reply }) => reply.status === 200 && !reply.headers.has("Idempotent-Replayed"),
      );
      expect(ran.length).toBe(1);
      let refused = 0;
      for (const { reply, text } of replies) {
        if (reply.status === 200) {
          expect(text).toBe(ran[0]?.text ?? "");
          expect(reply.headers.get("X-Units-Charged")).toBe(
            reply.headers.has("Idempotent-Replayed") ? "0" : `${units}`,
          );
          continue;
        }
        refused += 1;
        expect(reply.status).toBe(409);
        expect(JSON.parse(text).error.code).toBe("idempotency_in_progress");
        expect(reply.headers.get("Retry-After")).toBe("1");
      }
      process.stdout.write(`${name}: 1 ran, ${refused} refused, ${CALLS - 1 - refused} replayed\n`);
      expect(await caller.unitsOf(key)).toBe(units);

      const later = await send(body);
      expect(later.headers.get("Idempotent-Replayed")).toBe("true");
      expect(await later.text()).toBe(ran[0]?.text ?? "");
      expect(await refusalOf(await send(other))).toBe("422 idempotency_mismatch");
      expect(await caller.unitsOf(key)).toBe(units);
    });
  }

  test("and different bodies run one of them; the others are 422", async () => {
    const key = await caller.signUp();
    const replies = await Promise.all(
      Array.from({ length: CALLS }, (_, at) =>
        caller.call("/v1/email/verify", {
          key,
          body: { email: `someone${at}@slow.com` },
          headers: { "Idempotency-Key": "bodies" },
        }),
      ),
    );
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: CALLS - 1 }, () => 422)]);
    expect(await caller.unitsOf(key)).toBe(1);
  });

  test("of 100 accounts are 100 calls", async () => {
    const keys = await Promise.all(Array.from({ length: CALLS }, () => caller.signUp()));
    const replies = await Promise.all(
      keys.map((key) =>
        caller.call("/v1/email/verify", {
          key,
          body: { email: "someone@slow.com" },
          headers: { "Idempotency-Key": "shared" },
        }),
      ),
    );
    for (const reply of replies) {
      expect([reply.status, reply.headers.get("Idempotent-Replayed")]).toEqual([200, null]);
    }
    for (const key of keys) expect(await caller.unitsOf(key)).toBe(1);
  });

  test("one of which was killed in the middle run once more, and are charged once", async () => {
    const key = await caller.signUp();
    const send = () =>
      caller.call("/v1/email/batch", { key, body: batch(5000), headers: { "Idempotency-Key": "killed" } });
    const cut = send().then(
      (reply) => reply.text(),
      () => "cut",
    );
    await server.end("SIGKILL");
    await cut;
    server = await startProcess(environment);
    caller = callerOf(server.url);
    const again = await send();
    expect(again.status).toBe(200);
    await again.text();
    expect(await caller.unitsOf(key)).toBe(5000);
  });
});
