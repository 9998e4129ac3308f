import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { jsonOf } from "../support/json.ts";
import { isPostgresInstalled, type PostgresServer, startPostgres } from "../support/postgres.ts";
import { failedStart, temporaryFolder } from "../support/process.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const NOVEMBER = Date.parse("2026-11-20T12:00:00Z");
const DECEMBER = Date.parse("2026-12-02T12:00:00Z");
const SHOWN = [
  "/v1/account",
  "/v1/account/keys",
  "/v1/account/invoices",
  "/v1/account/usage?from=2026-11-01",
];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so nothing is carried over to it", () => {});
}

describe.if(isPostgresInstalled)("bun run migrate-to-postgres", () => {
  let postgres: PostgresServer;
  /** A data directory that each test gets a copy of, and the keys of its accounts. */
  let filled: ReturnType<typeof temporaryFolder>;
  let keys: readonly string[];
  /** What the second account was answered under a key whose reply is kept in a file. */
  let keptBatch: string;
  let folder: ReturnType<typeof temporaryFolder>;
  const servers: TestServer[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    folder = temporaryFolder("filled");
    filled = folder;
    keys = await fill();
  }, 60_000);
  beforeEach(() => {
    folder = temporaryFolder("migrate");
    cpSync(filled.path, folder.path, { recursive: true });
  });
  afterEach(async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });
  afterAll(async () => {
    filled?.[Symbol.dispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const serve = async (now: number, environment: { readonly [name: string]: string } = {}) => {
    const startedMs = performance.now();
    const clock = {
      now: () => now + Math.floor(performance.now() - startedMs),
      monotonic: () => performance.now(),
    };
    // The job of November is to be carried over in December: by then its data would be erased.
    const kept = { JOB_RETENTION_DAYS: "30" };
    const server = await startTestServer({
      clock,
      dataDir: folder.path,
      environment: { ...kept, ...environment },
    });
    servers.push(server);
    return server;
  };
  const stop = async () => {
    for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
  };

  /** A data directory with accounts, keys, charges, a change of plan, a kept reply and an invoice; returns the keys. */
  async function fill(): Promise<readonly string[]> {
    const server = await serve(NOVEMBER);
    const made = [await server.signUp(), await server.signUp("growth")];
    const [first = "", second = ""] = made;
    await server.call("/v1/account/plan", { key: first, body: { plan: "starter" } });
    for (const key of made) {
      await server.call("/v1/phone/validate", { key, body: { phone: "+5511987654321" } });
      const phones = Array.from({ length: 200 }, (_, n) => `+55119${80000000 + n}`);
      await (await server.call("/v1/phone/batch", { key, body: { phones } })).arrayBuffer();
    }
    await server.call("/v1/account/keys", { key: second, body: { name: "Ação 🦊" } });
    await server.call("/v1/webhooks", { key: second, body: { url: "https://hooks.good.com/here" } });
    const job = { kind: "phone", items: ["+5511987654321", "+442079460000"] };
    const created = await jsonOf<{ job_id: string }>(
      await server.call("/v1/jobs", { key: second, body: job }),
    );
    while ((await jobOf(server, second, created.job_id)) !== "completed") await Bun.sleep(20);
    await stop();
    const later = await serve(DECEMBER);
    await repeat(later, second);
    keptBatch = await (await repeatBatch(later, second)).text();
    // Calls without units, too, make a day of usage once they are written.
    for (const key of made) await later.call("/v1/account", { key });
    while ((await invoicesOf(later, second)).length === 0) await Bun.sleep(20);
    await stop();
    return made;
  }

  const jobOf = async (server: TestServer, key: string, jobId: string) =>
    (await jsonOf<{ status: string }>(await server.call(`/v1/jobs/${jobId}`, { key }))).status;
  const repeat = (server: TestServer, key: string) =>
    server.call("/v1/phone/validate", {
      key,
      body: { phone: "+5511987654321" },
      headers: { "Idempotency-Key": "kept" },
    });
  const repeatBatch = (server: TestServer, key: string) =>
    server.call("/v1/phone/batch", {
      key,
      body: { phones: Array.from({ length: 2_000 }, (_, n) => `+55119${70000000 + n}`) },
      headers: { "Idempotency-Key": "kept batch" },
    });
  const invoicesOf = async (server: TestServer, key: string) => {
    const page = await jsonOf<{ data: unknown[] }>(await server.call("/v1/account/invoices", { key }));
    return page.data;
  };
  const shownTo = (server: TestServer, keys: readonly string[]) =>
    Promise.all(
      keys.flatMap((key) =>
        SHOWN.map(async (path) => steady(await (await server.call(path, { key })).text())),
      ),
    );
  const carry = (url: string) => runCommand({ DATA_DIR: folder.path, DATABASE_URL: url });

  test("copies all that callers see, and kept replies are replayed; operators can act on it; a second run changes nothing", async () => {
    const before = await serve(DECEMBER + 3_600_000);
    const shown = await shownTo(before, keys);
    await stop();
    const url = await postgres.createDatabase();
    const carried = await carry(url);
    expect([carried.exitCode, carried.complaint]).toEqual([0, ""]);
    expect(carried.said).toContain("2405 units in events as in counters");
    expect(carried.said).toMatch(/^idempotent_replies +2 rows/m);
    expect(carried.said).not.toContain("left out");
    for (const table of ["jobs", "job_chunks", "job_results", "webhooks"]) {
      expect(carried.said).toMatch(new RegExp(`^${table} +1 row `, "m"));
    }
    expect(carried.said).toMatch(/^accounts +2 rows/m);
    const again = await carry(url);
    expect([again.exitCode, again.said.includes("nothing was changed")]).toEqual([0, true]);
    const node = await serve(DECEMBER + 3_600_000, { DATABASE_URL: url });
    expect(await shownTo(node, keys)).toEqual(shown);
    const replayed = await repeat(node, keys[1] ?? "");
    expect([replayed.status, replayed.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    const batch = await repeatBatch(node, keys[1] ?? "");
    expect([batch.status, batch.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await batch.text()).toBe(keptBatch);
    expect(await shownTo(node, keys)).toEqual(shown);
    expect(
      (await node.call("/v1/phone/validate", { key: keys[0] ?? "", body: { phone: "+5511987654321" } }))
        .status,
    ).toBe(200);
    const { account_id } = await jsonOf<{ account_id: string }>(
      await node.call("/v1/account", { key: keys[0] ?? "" }),
    );
    const suspended = await runCommand({ DATA_DIR: folder.path, DATABASE_URL: url }, [
      "src/tools/admin.ts",
      "suspend",
      account_id,
    ]);
    expect([suspended.exitCode, JSON.parse(suspended.said).suspended]).toEqual([0, true]);
    while ((await node.call("/v1/account", { key: keys[0] ?? "" })).status !== 401) await Bun.sleep(20);
    await stop();
    const refused = await carry(url);
    expect([refused.exitCode, refused.complaint.includes("rows of its own")]).toEqual([1, true]);
  });

  test("carries a text with a NUL, which PostgreSQL does not take, as a node writes it: with U+FFFD", async () => {
    const database = new Database(join(folder.path, "assay.db"));
    // Receivers answer what they like; names are refused with it, and of older versions may have it.
    database.run("UPDATE jobs SET name = 'a' || char(0) || 'b'");
    database.run("UPDATE webhooks SET description = char(0)");
    database.run("UPDATE webhook_deliveries SET answer = 'no' || char(0), body = body || char(0)");
    database.close(true);
    const url = await postgres.createDatabase();
    const carried = await carry(url);
    expect([carried.exitCode, carried.complaint]).toEqual([0, ""]);
    await using sql = new SQL(url, { max: 1 });
    expect(await sql`SELECT name FROM jobs`.values()).toEqual([["a\ufffdb"]]);
    expect(await sql`SELECT description FROM webhooks`.values()).toEqual([["\ufffd"]]);
    const answers = await sql`SELECT DISTINCT answer, right(body, 1) FROM webhook_deliveries`.values();
    expect(answers).toEqual([["no\ufffd", "\ufffd"]]);
    const again = await carry(url);
    expect([again.exitCode, again.said.includes("nothing was changed")]).toEqual([0, true]);
  });

  test("leaves a kept reply out whose file is gone, and says so", async () => {
    rmSync(join(folder.path, "idempotency"), { recursive: true });
    const carried = await carry(await postgres.createDatabase());
    expect([carried.exitCode, carried.complaint]).toEqual([0, ""]);
    expect(carried.said).toMatch(/^idempotent_replies +1 row /m);
    expect(carried.said).toContain("1 kept reply of batches left out");
  });

  test("refuses a data directory whose sums disagree, and one that a server runs on", async () => {
    const url = await postgres.createDatabase();
    await serve(DECEMBER);
    const inUse = await carry(url);
    expect([inUse.exitCode, inUse.said]).toEqual([1, ""]);
    await stop();
    const database = new Database(join(folder.path, "assay.db"));
    database.run("UPDATE plan_periods SET units = units + 1 WHERE ends_at IS NULL");
    database.close(true);
    const refused = await carry(url);
    expect([refused.exitCode, refused.complaint.includes("count other units than their events")]).toEqual([
      1,
      true,
    ]);
    await using sql = new SQL(url, { max: 1 });
    expect((await sql`SELECT 1 FROM pg_tables WHERE tablename = 'accounts'`).length).toBe(0);
  });

  test("reports in one sentence what is wrong with the named database, as a node does at its start", async () => {
    const url = await postgres.createDatabase();
    const refused = [url.replace(/\/[^/]*$/, "/missing"), url.replace("assay@", "nobody@")];
    const closed = url.replace(/:\d+\//, ":1/");
    for (const wrong of ["mysql://x/y", closed, ...refused]) {
      const { exitCode, complaint } = await carry(wrong);
      const isSentence = /^DATABASE_URL[^\n]*\.\n$/.test(complaint);
      expect([exitCode, isSentence]).toEqual([1, true]);
    }
    for (const wrong of refused) {
      const { exitCode, said } = await failedStart({ DATABASE_URL: wrong });
      expect([exitCode, said.startsWith("DATABASE_URL: the server refuses it (")]).toEqual([1, true]);
    }
  });

  test("killed in the middle it leaves nothing, and the next run copies all", async () => {
    const database = new Database(join(folder.path, "assay.db"));
    database.run(`WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 60000)
      INSERT INTO quota_marks SELECT 'acc_' || n, n, 80 FROM many`);
    database.close(true);
    const url = await postgres.createDatabase();
    await using sql = new SQL(url, { max: 1 });
    const child = spawnCommand({ DATA_DIR: folder.path, DATABASE_URL: url });
    for (;;) {
      const writing = await sql`SELECT 1 FROM pg_stat_activity
        WHERE application_name = 'assay migration' AND query LIKE 'INSERT INTO quota_marks%'`;
      if (writing.length > 0 || child.exitCode !== null) break;
    }
    child.kill("SIGKILL");
    await child.exited;
    const counted = async () => Number((await sql`SELECT count(*) AS n FROM accounts`)[0].n);
    expect(await counted()).toBe(0);
    const carried = await carry(url);
    expect([carried.exitCode, carried.complaint, await counted()]).toEqual([0, "", 2]);
    expect(carried.said).toMatch(/^quota_marks +60000 rows/m);
  });
});

const MIGRATE = ["src/tools/migrate-to-postgres.ts"];

function spawnCommand(
  environment: { readonly [name: string]: string },
  command: readonly string[] = MIGRATE,
) {
  return Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function runCommand(environment: { readonly [name: string]: string }, command = MIGRATE) {
  const child = spawnCommand(environment, command);
  const [said, complaint, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { said, complaint, exitCode };
}

/** What a reply says, without what looking at it changes, and the projection, which goes on with the clock. */
function steady(text: string): unknown {
  return JSON.parse(text, (name, value) => (MOVING.has(name) ? null : value));
}

const MOVING: ReadonlySet<string> = new Set(["projected_invoice", "last_used_at", "calls", "by_endpoint"]);
