import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFixtureServer } from "../../src/tools/made-up-dns/server.ts";
import { jsonOf } from "./json.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import { TEST_ZONE } from "./server.ts";

/** Three nodes, each a process of its own, on a PostgreSQL of their own. */
export type TestCluster = AsyncDisposable & {
  readonly postgres: PostgresServer;
  /** As they are now: a node that was started again is another one. */
  readonly nodes: readonly ServerProcess[];
  readonly startNode: (place: number) => Promise<ServerProcess>;
  /** Signs up through the first node; returns the key and the account's id. */
  readonly signUp: () => Promise<{ readonly key: string; readonly accountId: string }>;
};

/** The units of the free plan of a test cluster, which is a hard stop. */
export const FREE_UNITS = 1_000;

export async function startCluster(nodesMax = 3): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), "assay-cluster-"));
  const dns = await startFixtureServer({ zone: TEST_ZONE });
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const plansFile = join(folder, "plans.json");
  writeFileSync(plansFile, JSON.stringify({ currency: "USD", plans: PLANS }));
  const nodes: ServerProcess[] = [];

  async function startNode(place: number): Promise<ServerProcess> {
    const node = await startProcess({
      DATABASE_URL: url,
      DATA_DIR: join(folder, `node-${place}`),
      DNS_SERVERS: dns.address,
      PLANS_FILE: plansFile,
      SIGNUPS_PER_MINUTE: "1000",
      WORKER_THREADS: "1",
    });
    nodes[place] = node;
    return node;
  }

  await Promise.all(Array.from({ length: nodesMax }, (_, place) => startNode(place)));
  let signups = 0;
  return {
    postgres,
    nodes,
    startNode,
    signUp: async () => {
      signups += 1;
      const reply = await fetch(`${nodes[0]?.url}/v1/signup`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email: `user${signups}@good.com` }),
      });
      const body = await jsonOf<{ account_id: string; api_key: string }>(reply);
      if (reply.status !== 201) throw new Error(JSON.stringify(body));
      return { key: body.api_key, accountId: body.account_id };
    },
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) node.child.kill("SIGCONT");
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await postgres[Symbol.asyncDispose]();
      await dns[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const UNHINDERED = { requests_per_second: 10_000, burst: 20_000, max_batch_size: 1_000 };
const PLANS = [
  { plan: "free", monthly_price_usd: "0.00", included_units: FREE_UNITS, overage_unit_price_usd: null },
  { plan: "starter", monthly_price_usd: "29.00", included_units: 25_000, overage_unit_price_usd: "0.002000" },
  {
    plan: "growth",
    monthly_price_usd: "199.00",
    included_units: 250_000,
    overage_unit_price_usd: "0.001500",
  },
  {
    plan: "scale",
    monthly_price_usd: "999.00",
    included_units: 2_500_000,
    overage_unit_price_usd: "0.001000",
  },
].map((plan) => ({ ...plan, ...UNHINDERED }));
