import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FREE_UNITS, startCluster, type TestCluster } from "../support/cluster.ts";
import { jsonOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";

const SEEN_WITHIN_MS = 1_000;
const ROUNDS = 6;
const PLACES = [0, 1, 2];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so what nodes see of each other is not measured", () => {});
}

describe.if(isPostgresInstalled)("three nodes, one of them behind PgBouncer", () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster({ withPooler: true });
  }, 60_000);
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  const call = (
    place: number,
    path: string,
    key: string,
    options: { method?: string; body?: unknown } = {},
  ) =>
    fetch(`${cluster.nodes[place]?.url}${path}`, {
      method: options.method ?? "GET",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
  const statusOf = async (place: number, key: string) => {
    const reply = await call(place, "/v1/phone/validate?phone=%2B5511987654321", key);
    await reply.arrayBuffer();
    return reply.status;
  };

  /** Returns the milliseconds after which each node answers a key with a status. */
  const seenAfter = (key: string, status: number) => {
    const sinceMs = performance.now();
    return Promise.all(
      PLACES.map(async (place) => {
        while ((await statusOf(place, key)) !== status) await Bun.sleep(2);
        return performance.now() - sinceMs;
      }),
    );
  };
  const shown = (times: readonly number[]) =>
    `median ${Math.round(times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0)} ms, at most ${Math.round(Math.max(...times))} ms`;

  test("a key that is ended on one node is refused by every node within a second", async () => {
    const { key } = await cluster.signUp();
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const place = round % PLACES.length;
      const created = await call(place, "/v1/account/keys", key, { method: "POST", body: { name: "other" } });
      const other = await jsonOf<{ readonly api_key: string; readonly key_id: string }>(created);
      for (const each of PLACES) expect(await statusOf(each, other.api_key)).toBe(200);
      const ended = await call(place, `/v1/account/keys/${other.key_id}`, key, { method: "DELETE" });
      expect(ended.status).toBe(204);
      times.push(...(await seenAfter(other.api_key, 401)));
    }
    console.log(`a key is refused by all nodes: ${shown(times)} after ${ROUNDS} ends of keys`);
    expect(Math.max(...times)).toBeLessThan(SEEN_WITHIN_MS);
  });

  test("an upgrade on one node applies on every node within a second", async () => {
    const times: number[] = [];
    for (const seller of PLACES) {
      const { key } = await cluster.signUp();
      const phones = Array.from({ length: FREE_UNITS }, (_, n) => `+55119${80000000 + n}`);
      const batch = await call(seller, "/v1/phone/batch", key, { method: "POST", body: { phones } });
      expect([batch.status, (await batch.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
      await seenAfter(key, 402);
      const changed = await call(seller, "/v1/account/plan", key, {
        method: "POST",
        body: { plan: "growth" },
      });
      expect(changed.status).toBe(200);
      times.push(...(await seenAfter(key, 200)));
    }
    console.log(`a larger plan counts on all nodes: ${shown(times)}`);
    expect(Math.max(...times)).toBeLessThan(SEEN_WITHIN_MS);
  });
});
