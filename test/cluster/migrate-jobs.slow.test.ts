import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { jsonOf } from "../support/json.ts";
import { isPostgresInstalled, startPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const ROWS = ["a@good.com", "b@good.com", "a@good.com", "ç é\u00a0@good.com"];

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no jobs are carried over to it", () => {});
}

type Job = { readonly job_id: string; readonly status: string; readonly units_charged: number };

async function create(server: TestServer, key: string): Promise<string> {
  const headers = { "Content-Type": "text/plain" };
  const reply = await server.call("/v1/jobs", { key, body: ROWS.join("\n"), headers });
  return (await jsonOf<Job>(reply)).job_id;
}

async function isFailing(server: TestServer, key: string): Promise<boolean> {
  const page = await jsonOf<{ data: { failing_since: string | null }[] }>(
    await server.call("/v1/webhooks", { key }),
  );
  return page.data.every(({ failing_since }) => failing_since !== null);
}

const ended = async (server: TestServer, key: string, jobId: string) =>
  (await server.call(`/v1/jobs/${jobId}/events`, { key })).text();

describe.if(isPostgresInstalled)("jobs and webhooks of one server on a cluster", () => {
  test("are copied with their results, and what was running when the server died continues", async () => {
    await using postgres = await startPostgres();
    using folder = temporaryFolder("migrate-jobs");
    const url = await postgres.createDatabase();
    const one = await startTestServer({ dataDir: folder.path });
    const key = await one.signUp("growth");
    await one.call("/v1/webhooks", { key, body: { url: "https://hooks.example.com/x" } });
    const jobs = [await create(one, key), await create(one, key)];
    for (const jobId of jobs) await ended(one, key, jobId);
    // Nobody is at that address: the first attempt shows on the webhook, and must be over before it is compared.
    while (!(await isFailing(one, key))) await Bun.sleep(20);
    const [done = "", cut = ""] = jobs;
    const paths = ["/v1/webhooks", `/v1/jobs/${done}`, `/v1/jobs/${done}/results?format=csv`];
    const shownBy = (server: TestServer) =>
      Promise.all(paths.map(async (path) => (await server.call(path, { key })).text()));
    const shown = await shownBy(one);
    await one[Symbol.asyncDispose]();
    returnToWork(folder.path, cut);
    const child = Bun.spawn([process.execPath, "src/tools/migrate-to-postgres.ts"], {
      cwd: ROOT,
      env: { PATH: process.env.PATH ?? "", DATA_DIR: folder.path, DATABASE_URL: url },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(["", 0]);
    expect(await new Response(child.stdout).text()).toMatch(/^job_chunks +2 rows/m);
    await using node = await startTestServer({ dataDir: folder.path, environment: { DATABASE_URL: url } });
    expect(await shownBy(node)).toEqual(shown);
    await ended(node, key, cut);
    const jobOf = async (jobId: string) => jsonOf<Job>(await node.call(`/v1/jobs/${jobId}`, { key }));
    const { status, units_charged } = await jobOf(cut);
    expect([status, units_charged]).toEqual(["completed", (await jobOf(done)).units_charged]);
    const results = async (jobId: string) =>
      (await node.call(`/v1/jobs/${jobId}/results?format=csv`, { key })).text();
    expect(await results(cut)).toBe(await results(done));
  }, 60_000);
});

/** Leaves a job as a server does that dies while its only chunk is in work. */
function returnToWork(dataDir: string, jobId: string): void {
  using database = new Database(join(dataDir, "assay.db"));
  database.run("DELETE FROM job_results WHERE job_id = ?", [jobId]);
  database.run(
    "UPDATE job_chunks SET state = 'claimed', attempt = 1, rows_done = 0, units = 0, line_bytes = 0 WHERE job_id = ?",
    [jobId],
  );
  database.run(
    `UPDATE jobs SET status = 'running', finished_at = NULL, expires_at = NULL, processed = 0, counts = '{}',
      units_charged = 0 WHERE job_id = ?`,
    [jobId],
  );
}
