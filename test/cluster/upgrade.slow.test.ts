import { expect, test } from "bun:test";
import { isBalancerInstalled, startBalancer } from "../support/balancer.ts";
import { startCluster } from "../support/cluster.ts";
import { freePort } from "../support/free-port.ts";
import { accountOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { failedStart } from "../support/process.ts";

const NODES = 2;
const CALLERS = 4;
const BATCH_ITEMS = 50;
const CALLS = /^assay_http_requests_total\{[^}]*"\/v1\/phone\//m;
const NEXT_VERSION = "./test/support/next-version.ts";

if (!isPostgresInstalled || !isBalancerInstalled) {
  test.skip("SKIPPED: PostgreSQL or HAProxy is not installed, so no upgrade of a cluster is tested", () => {});
}

test.if(isPostgresInstalled && isBalancerInstalled)(
  "a rolling upgrade under load fails no call, and an old node refuses the newer database",
  async () => {
    const ports = await Promise.all(Array.from({ length: NODES }, () => freePort()));
    await using cluster = await startCluster({
      nodesMax: NODES,
      ports,
      environment: { SHUTDOWN_DELAY_SECONDS: "2" },
    });
    await using balancer = await startBalancer(ports);
    const { key } = await cluster.signUp();
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const grown = await fetch(`${balancer.url}/v1/account/plan`, {
      method: "POST",
      headers,
      body: JSON.stringify({ plan: "scale" }),
    });
    expect(grown.status).toBe(200);
    const single = { path: "/v1/phone/validate", body: { phone: "+5511987654321" }, units: 1 };
    const phones = Array.from({ length: BATCH_ITEMS }, (_, n) => `+55119${80000000 + n}`);
    const batch = { path: "/v1/phone/batch", body: { phones }, units: BATCH_ITEMS };
    const outcomes: string[] = [];
    let units = 0;
    let isOver = false;
    const callers = Array.from({ length: CALLERS }, async (_, n) => {
      const { path, body, units: each } = n === 0 ? batch : single;
      while (!isOver) {
        const outcome = await fetch(balancer.url + path, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        }).then(
          async (reply) =>
            `${reply.status} ${reply.status === 200 ? (await reply.text()).length > 0 : await reply.text()}`,
          String,
        );
        outcomes.push(outcome);
        if (outcome === "200 true") units += each;
      }
    });
    const untilMore = async (count: number) => {
      const before = outcomes.length;
      while (outcomes.length < before + count) await Bun.sleep(5);
    };
    const exitCodes: (number | null)[] = [];
    for (let place = 0; place < NODES; place += 1) {
      await untilMore(100);
      exitCodes.push((await cluster.nodes[place]?.end("SIGTERM")) ?? null);
      const { url } = await cluster.startNode(place, { preload: NEXT_VERSION });
      // HAProxy sees within 300 ms that a node is back; the next one may not end before.
      while (!CALLS.test(await (await fetch(`${url}/metrics`)).text())) await Bun.sleep(5);
      // Both versions serve from here, until the last one is replaced.
      await untilMore(100);
    }
    isOver = true;
    await Promise.all(callers);
    const failed = outcomes.filter((outcome) => outcome !== "200 true");
    console.log(`a rolling upgrade of ${NODES} nodes: ${outcomes.length} calls, ${failed.length} failed`);
    expect(failed).toEqual([]);
    expect(exitCodes).toEqual(exitCodes.map(() => 0));
    const account = await accountOf(await fetch(`${balancer.url}/v1/account`, { headers }));
    expect(account.usage.units).toBe(units);
    const refused = await failedStart({ DATABASE_URL: cluster.databaseUrl });
    expect([refused.exitCode, refused.said.includes("written by a newer version")]).toEqual([1, true]);
  },
  60_000,
);
