import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { jsonOf } from "./json.ts";
import { isPgBouncerInstalled, startPgBouncer } from "./pgbouncer.ts";
import { type PostgresServer, type Standby, startPostgres } from "./postgres.ts";
import { type ServerProcess, startPreloaded, startProcess } from "./process.ts";
import { TEST_ZONE } from "./server.ts";

/** Three nodes, each a process of its own, on a PostgreSQL of their own. */
export type TestCluster = AsyncDisposable & {
  readonly postgres: PostgresServer;
  readonly standby: Standby | null;
  readonly databaseUrl: string;
  /** What a node is started with. */
  readonly settingsOf: (place: number) => { readonly [name: string]: string };
  /** As they are now: a node that was started again is another one. */
  readonly nodes: readonly ServerProcess[];
  readonly startNode: (place: number, options?: { readonly preload?: string }) => Promise<ServerProcess>;
  /** The name by which a node holds rows of the database. */
  readonly processOf: (place: number) => string;
  /** Signs up through the first node; returns the key and the account's id. */
  readonly signUp: () => Promise<{
    readonly key: string;
    readonly accountId: string;
    readonly email: string;
  }>;
};

/** The units of the free plan of a test cluster, which is a hard stop. */
export const FREE_UNITS = 1_000;

const SIGN_UP_TRIES_MAX = 10;
const SIGN_UP_AGAIN_MS = 500;

/** The last node reaches PostgreSQL through PgBouncer in transaction mode, where that is installed and asked for. */
export async function startCluster({
  nodesMax = 3,
  withPooler = false,
  ports = [],
  withStandby = false,
  environment = {},
}: {
  readonly nodesMax?: number;
  readonly withPooler?: boolean;
  /** Of the nodes; any that are free unless given. */
  readonly ports?: readonly number[];
  /** Starts a standby, which nodes know as a second host. */
  readonly withStandby?: boolean;
  readonly environment?: { readonly [name: string]: string };
} = {}): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), "assay-cluster-"));
  const dns = await startFixtureServer({ zone: TEST_ZONE });
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const standby = withStandby ? await postgres.startStandby() : null;
  const nodesUrl = standby === null ? url : url.replace(/@[^/]+/, `$&,127.0.0.1:${standby.port}`);
  const pooler = withPooler && isPgBouncerInstalled ? await startPgBouncer(postgres.port) : null;
  const plansFile = join(folder, "plans.json");
  writeFileSync(plansFile, JSON.stringify({ currency: "USD", plans: PLANS }));
  const nodes: ServerProcess[] = [];

  function settingsOf(place: number): { readonly [name: string]: string } {
    const isPooled = pooler !== null && place === nodesMax - 1;
    return {
      ...(isPooled
        ? { DATABASE_URL: pooler.through(url), DATABASE_DIRECT_URL: url }
        : { DATABASE_URL: nodesUrl }),
      PORT: `${ports[place] ?? 0}`,
      DATA_DIR: join(folder, `node-${place}`),
      DNS_SERVERS: dns.address,
      PLANS_FILE: plansFile,
      SIGNUPS_PER_MINUTE: "1000",
      WORKER_THREADS: "1",
      ...environment,
    };
  }

  async function startNode(place: number, { preload }: { preload?: string } = {}): Promise<ServerProcess> {
    const settings = settingsOf(place);
    const node = await (preload === undefined ? startProcess(settings) : startPreloaded(preload, settings));
    nodes[place] = node;
    return node;
  }

  await Promise.all(Array.from({ length: nodesMax }, (_, place) => startNode(place)));
  let signups = 0;
  return {
    postgres,
    standby,
    databaseUrl: url,
    settingsOf,
    nodes,
    startNode,
    processOf: (place) => readFileSync(join(folder, `node-${place}`, "process"), "utf8"),
    signUp: async () => {
      signups += 1;
      const email = `user${signups}@good.com`;
      const post = () =>
        fetch(`${nodes[0]?.url}/v1/signup`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ email }),
        });
      let reply = await post();
      // A machine that is busy with the start of all of them.
      for (let tries = 1; reply.status === 503 && tries < SIGN_UP_TRIES_MAX; tries += 1) {
        await Bun.sleep(SIGN_UP_AGAIN_MS);
        reply = await post();
      }
      const body = await jsonOf<{ account_id: string; api_key: string }>(reply);
      if (reply.status !== 201) throw new Error(JSON.stringify(body));
      return { key: body.api_key, accountId: body.account_id, email };
    },
    [Symbol.asyncDispose]: async () => {
      for (const node of nodes) node.child.kill("SIGCONT");
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      await pooler?.[Symbol.asyncDispose]();
      await standby?.[Symbol.asyncDispose]();
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
