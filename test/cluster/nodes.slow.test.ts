import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import type { PublicKey } from "../../src/signing/signing-key.ts";
import { FREE_UNITS, startCluster, type TestCluster } from "../support/cluster.ts";
import { accountOf, jsonOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { failedStart, startProcess, temporaryFolder } from "../support/process.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no cluster is tested", () => {});
}

describe.if(isPostgresInstalled)("three nodes on one PostgreSQL", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const urlOf = (place: number) => cluster.nodes[place % cluster.nodes.length]?.url ?? "";
  /** A check of one unit. */
  const check = (place: number, key: string) =>
    fetch(`${urlOf(place)}/v1/phone/validate?phone=%2B5511987654321`, {
      headers: { Authorization: `Bearer ${key}` },
    });
  const send = (place: number, path: string, key: string, body: unknown, headers = {}) =>
    fetch(`${urlOf(place)}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const unitsOf = async (place: number, key: string) => {
    const reply = await fetch(`${urlOf(place)}/v1/account`, { headers: { Authorization: `Bearer ${key}` } });
    return (await accountOf(reply)).usage.units;
  };
  /** Charges all but `left` units of the month. */
  async function useUpTo(key: string, left: number): Promise<void> {
    const phones = Array.from({ length: FREE_UNITS - left }, (_, n) => `+55119${80000000 + n}`);
    const reply = await send(0, "/v1/phone/batch", key, { phones });
    expect(reply.status).toBe(200);
    await reply.arrayBuffer();
  }

  test("a thousand calls at once with ten units left are answered exactly ten times", async () => {
    const { key } = await cluster.signUp();
    await useUpTo(key, 10);
    const statuses = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const reply = await check(n, key);
        await reply.arrayBuffer();
        return reply.status;
      }),
    );
    const counted = (status: number) => statuses.filter((each) => each === status).length;
    expect([counted(200), counted(402)]).toEqual([10, 990]);
    expect(await unitsOf(1, key)).toBe(FREE_UNITS);
  });

  test("all nodes show what one of them has charged", async () => {
    const { key } = await cluster.signUp();
    for (const place of [0, 1, 2]) expect((await check(place, key)).status).toBe(200);
    for (const place of [0, 1, 2]) expect(await unitsOf(place, key)).toBe(3);
  });

  test("a signature of one node is verified by the keys that any node lists", async () => {
    type Keys = { readonly keys: readonly PublicKey[] };
    for (const place of [0, 1, 2]) {
      const reply = await fetch(`${urlOf(place)}/v1/check?resource=https%3A%2F%2Funlisted.example%2F`);
      const { signature } = await jsonOf<{ readonly signature: string }>(reply);
      const [header = "", payload = "", signed = ""] = signature.split(".");
      const { kid } = JSON.parse(Buffer.from(header, "base64url").toString());
      for (const other of [0, 1, 2]) {
        const { keys } = await jsonOf<Keys>(await fetch(`${urlOf(other)}/.well-known/jwks.json`));
        const listed = keys.find((key) => key.kid === kid);
        if (listed === undefined) throw new Error(`Node ${other} does not list the key of node ${place}`);
        const key = createPublicKey({ key: listed, format: "jwk" });
        const bytes = Buffer.from(`${header}.${payload}`);
        expect([place, other, verify(null, bytes, key, Buffer.from(signed, "base64url"))]).toEqual([
          place,
          other,
          true,
        ]);
      }
    }
  });

  test("a key that is ended on one node is refused by all", async () => {
    const { key } = await cluster.signUp();
    const created = await send(0, "/v1/account/keys", key, { name: "second" });
    const second = await jsonOf<{ readonly api_key: string; readonly key_id: string }>(created);
    for (const place of [0, 1, 2]) expect((await check(place, second.api_key)).status).toBe(200);
    const removed = await fetch(`${urlOf(0)}/v1/account/keys/${second.key_id}`, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(removed.status).toBe(204);
    const isRefused = async (place: number) => (await check(place, second.api_key)).status === 401;
    const endedMs = performance.now();
    for (const place of [0, 1, 2]) while (!(await isRefused(place))) await Bun.sleep(20);
    // A second on a machine that is not busy.
    expect(performance.now() - endedMs).toBeLessThan(5_000);
  });

  test("an upgrade on one node applies on all", async () => {
    const { key } = await cluster.signUp();
    await useUpTo(key, 0);
    expect((await check(1, key)).status).toBe(402);
    expect((await send(0, "/v1/account/plan", key, { plan: "growth" })).status).toBe(200);
    for (const place of [0, 1, 2]) await untilAnswered(() => check(place, key));
  });

  test("a call that is sent again to another node is charged once and answered the same", async () => {
    const { key } = await cluster.signUp();
    const once = (place: number) =>
      send(place, "/v1/phone/validate", key, { phone: "+5511987654321" }, { "Idempotency-Key": "same" });
    const first = await once(0);
    const text = await first.text();
    const again = await once(1);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(text);
    const atOnce = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        send(n, "/v1/phone/validate", key, { phone: "+5511987654321" }, { "Idempotency-Key": "at once" }),
      ),
    );
    expect(atOnce.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await unitsOf(2, key)).toBe(2);
  });

  test("a batch that is sent again to another node is charged once and answered the same", async () => {
    const { key } = await cluster.signUp();
    const phones = Array.from({ length: FREE_UNITS }, (_, n) => `+55119${80000000 + n}`);
    const once = (place: number) =>
      send(place, "/v1/phone/batch", key, { phones }, { "Idempotency-Key": "batch" });
    const first = await once(0);
    const text = await first.text();
    const again = await once(1);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([first, again].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
    expect(text).toContain(`"units_charged":${FREE_UNITS}`);
    expect(await again.text()).toBe(text);
    expect(await unitsOf(2, key)).toBe(FREE_UNITS);
  });

  test("a node that is killed loses nothing that it acknowledged", async () => {
    const { key } = await cluster.signUp();
    let acknowledged = 0;
    const calls = Array.from({ length: 200 }, async (_, n) => {
      const status = await check(n, key).then(
        (reply) => reply.status,
        () => 0,
      );
      if (status === 200) acknowledged += 1;
      if (n === 60) cluster.nodes[2]?.child.kill("SIGKILL");
      return status;
    });
    await Promise.all(calls);
    const units = await unitsOf(0, key);
    expect(acknowledged).toBeGreaterThan(0);
    expect(units).toBeGreaterThanOrEqual(acknowledged);
    // Calls of the killed node may have been charged without an answer, and no others.
    expect(units).toBeLessThanOrEqual(200);
    await cluster.startNode(2);
    expect((await check(2, key)).status).toBe(200);
  });

  test("while PostgreSQL is frozen calls are answered 503 with Retry-After, and the nodes recover by themselves", async () => {
    const { key } = await cluster.signUp();
    for (const place of [0, 1, 2]) expect((await check(place, key)).status).toBe(200);
    await cluster.postgres.freeze();
    const startedMs = performance.now();
    const refused = await Promise.all([0, 1, 2].map((place) => check(place, key)));
    const tookMs = performance.now() - startedMs;
    await cluster.postgres.thaw();
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503]);
    for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(tookMs).toBeLessThan(15_000);
    for (const place of [0, 1, 2]) await untilAnswered(() => check(place, key));
    expect(await unitsOf(0, key)).toBe(6);
  });

  test("calls survive a crash and restart of PostgreSQL, each charged once", async () => {
    const { key } = await cluster.signUp();
    const statuses: number[] = [];
    let isOver = false;
    const callers = [0, 1, 2].map(async (place) => {
      while (!isOver) {
        const status = await check(place, key).then(
          (reply) => reply.status,
          () => 0,
        );
        statuses.push(status);
        if (status !== 200) await Bun.sleep(50);
        await Bun.sleep(5);
      }
    });
    const answered = () => statuses.filter((status) => status === 200).length;
    const until = async (count: number) => {
      while (answered() < count) await Bun.sleep(10);
    };
    await until(30);
    await cluster.postgres.restart();
    await until(answered() + 30);
    isOver = true;
    await Promise.all(callers);
    const unknown = statuses.filter((status) => status === 0).length;
    const units = await unitsOf(0, key);
    expect(statuses.every((status) => [200, 503, 0].includes(status))).toBe(true);
    expect(units).toBeGreaterThanOrEqual(answered());
    expect(units).toBeLessThanOrEqual(answered() + unknown);
  });

  test("two nodes share one port: the kernel spreads connections over them, and a single one gets all", async () => {
    const { key } = await cluster.signUp();
    const headers = { Authorization: `Bearer ${key}`, Connection: "close" };
    const { port } = new URL(urlOf(0) ?? "");
    const callAll = () =>
      Promise.all(
        Array.from({ length: 60 }, async () => {
          // A connection that an earlier test left open would lead to the first of them.
          const reply = await fetch(`${urlOf(0)}/v1/phone/validate?phone=%2B5511987654321`, {
            headers,
            keepalive: false,
          });
          return reply.status;
        }),
      );
    await using sql = new SQL(cluster.databaseUrl, { max: 1 });
    /** Groups of charges that a process has written. */
    const writtenBy = async (processId: string) => {
      const [row] = await sql`SELECT sequence FROM flushes WHERE process_id = ${processId}`;
      return Number(row?.sequence ?? 0);
    };
    using folder = temporaryFolder("same-port");
    const before = await writtenBy(cluster.processOf(0));
    const second = await startProcess({ ...cluster.settingsOf(0), PORT: port, DATA_DIR: folder.path });
    expect(second.url).toBe(urlOf(0) ?? "");
    expect((await callAll()).every((status) => status === 200)).toBe(true);
    expect(await writtenBy(cluster.processOf(0))).toBeGreaterThan(before);
    expect(await writtenBy(readFileSync(join(folder.path, "process"), "utf8"))).toBeGreaterThan(0);
    expect(await second.end("SIGTERM")).toBe(0);
    expect((await callAll()).every((status) => status === 200)).toBe(true);
    expect(await unitsOf(1, key)).toBe(120);
  });

  test("a backup under load is consistent: restored, its sums agree, and a node continues from it", async () => {
    const { key } = await cluster.signUp();
    // More units than any machine charges meanwhile.
    expect((await send(0, "/v1/account/plan", key, { plan: "growth" })).status).toBe(200);
    let isOver = false;
    let answered = 0;
    const callers = [0, 1, 2].map(async (place) => {
      while (!isOver) if ((await check(place, key)).status === 200) answered += 1;
    });
    while (answered < 30) await Bun.sleep(5);
    const before = answered;
    const url = await cluster.postgres.restoreCopy(cluster.databaseUrl);
    isOver = true;
    await Promise.all(callers);
    await using sql = new SQL(url, { max: 1 });
    const [sums] = await sql`
      SELECT (SELECT sum(units) FROM usage_events)::int AS events, (SELECT sum(units) FROM plan_periods)::int AS counters,
        (SELECT sum(units) FROM usage_days)::int AS days`;
    expect(sums).toEqual({ events: sums.events, counters: sums.events, days: sums.events });
    using folder = temporaryFolder("restored");
    const settings = { ...cluster.settingsOf(0), DATABASE_URL: url, DATA_DIR: folder.path, PORT: "0" };
    await using node = await startProcess(settings);
    const headers = { Authorization: `Bearer ${key}` };
    const { usage } = await accountOf(await fetch(`${node.url}/v1/account`, { headers }));
    expect(usage.units).toBeGreaterThanOrEqual(before);
    expect(usage.units).toBeLessThanOrEqual(answered);
    const again = await fetch(`${node.url}/v1/phone/validate?phone=%2B5511987654321`, { headers });
    expect(again.status).toBe(200);
  });

  test("a node whose database does not answer says so and does not start", async () => {
    const unreachable = await failedStart({ DATABASE_URL: "postgres://assay@127.0.0.1:1/assay" });
    expect([
      unreachable.said.includes("DATABASE_URL: the database cannot be used now"),
      unreachable.exitCode,
    ]).toEqual([true, 1]);
  });

  test("a session that locks the row of an account delays the calls of that account, and no others", async () => {
    const [held, other] = [await cluster.signUp(), await cluster.signUp()];
    for (const place of [0, 1, 2])
      for (const { key } of [held, other]) expect((await check(place, key)).status).toBe(200);
    await using sql = new SQL(cluster.databaseUrl, { max: 1 });
    const locked = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const holding = sql.begin(async (transaction) => {
      await transaction`SELECT FROM accounts WHERE account_id = ${held.accountId} FOR UPDATE`;
      locked.resolve();
      await letGo.promise;
    });
    await locked.promise;
    // Each waits for the row, is refused, and asks again.
    let isOver = false;
    const statuses: readonly number[][] = [[], [], []];
    const refused = statuses.map(async (ofPlace, place) => {
      while (!isOver) ofPlace.push((await check(place, held.key)).status);
    });
    try {
      // Until each node has found out who is held.
      while (statuses.some((ofPlace) => ofPlace.length === 0)) await Bun.sleep(20);
      for (const place of [0, 1, 2]) await untilAnswered(() => check(place, other.key));
      const before = await unitsOf(1, other.key);
      for (let n = 0; n < 60; n += 1) expect((await check(n, other.key)).status).toBe(200);
      expect(await unitsOf(2, other.key)).toBe(before + 60);
    } finally {
      isOver = true;
      await Promise.all(refused);
      letGo.resolve();
      await holding;
      expect(statuses.flat()).not.toContain(200);
    }
    await untilAnswered(() => check(0, held.key));
  });

  test("a second node on the data directory of a running one does not start, and takes nothing from it", async () => {
    const before = cluster.processOf(0);
    const second = await failedStart({ ...cluster.settingsOf(0), PORT: "0" });
    expect([second.said.includes("Another process is using the data directory"), second.exitCode]).toEqual([
      true,
      1,
    ]);
    expect(cluster.processOf(0)).toBe(before);
  });
});

async function untilAnswered(work: () => Promise<Response>): Promise<void> {
  while ((await work()).status !== 200) await Bun.sleep(50);
}
