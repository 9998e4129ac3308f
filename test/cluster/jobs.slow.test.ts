import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { startCluster, type TestCluster } from "../support/cluster.ts";
import { accountOf, jsonOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so no jobs of a cluster are tested", () => {});
}

type Job = {
  readonly job_id: string;
  readonly status: string;
  readonly status_reason: string | null;
  readonly units_charged: number;
  readonly finished_at: string | null;
  readonly counts: { readonly [word: string]: number };
};

const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
/** Rows of the jobs that nodes die in. */
const ROWS = Number(process.env.CLUSTER_JOB_ROWS ?? 60_000);

describe.if(isPostgresInstalled)("jobs and webhooks on three nodes", () => {
  let cluster: TestCluster;
  let sql: SQL;
  const sent: string[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { type, data } = (await request.json()) as { type: string; data: { job_id?: string } };
      sent.push(`${type} ${data.job_id ?? ""}`);
      return new Response(null, { status: 204 });
    },
  });

  beforeAll(async () => {
    cluster = await startCluster({ environment: { WEBHOOK_ALLOW_PRIVATE: "true", LOG_LEVEL: "error" } });
    sql = new SQL(cluster.databaseUrl, { max: 1 });
  }, 60_000);
  afterAll(async () => {
    await sql?.close({ timeout: 0 });
    await cluster?.[Symbol.asyncDispose]();
    await receiver.stop(true);
  });

  const call = (place: number, path: string, key: string, more: RequestInit = {}) =>
    fetch(`${cluster.nodes[place]?.url}${path}`, {
      ...more,
      headers: { Authorization: `Bearer ${key}`, ...more.headers },
    });
  const post = (place: number, path: string, key: string, body: unknown = {}) =>
    call(place, path, key, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  async function signUp(plan?: string): Promise<string> {
    const { key } = await cluster.signUp();
    if (plan !== undefined) expect((await post(0, "/v1/account/plan", key, { plan })).status).toBe(200);
    return key;
  }

  async function create(place: number, key: string, rows: readonly string[], query = ""): Promise<Job> {
    const headers = { "Content-Type": "text/plain" };
    const reply = await call(place, `/v1/jobs${query}`, key, {
      method: "POST",
      headers,
      body: rows.join("\n"),
    });
    expect(reply.status).toBe(202);
    return jsonOf<Job>(reply);
  }

  const jobOf = async (place: number, key: string, jobId: string) =>
    jsonOf<Job>(await call(place, `/v1/jobs/${jobId}`, key));

  /** Waits through a node until a job has ended; returns it as the node shows it. A stream that is cut is begun anew. */
  async function ended(place: number, key: string, jobId: string): Promise<Job> {
    for (;;) {
      const events = await (await call(place, `/v1/jobs/${jobId}/events`, key)).text();
      const last = /^data: (.*)$/m.exec(events.trim().split("\n\n").at(-1) ?? "")?.[1];
      const job: Job | null = JSON.parse(last ?? "null");
      if (job !== null && ENDED.includes(job.status)) return job;
    }
  }

  async function resultsOf(place: number, key: string, jobId: string): Promise<[number, string][]> {
    const text = await (await call(place, `/v1/jobs/${jobId}/results`, key)).text();
    return text
      .trimEnd()
      .split("\n")
      .map((line) => {
        const { row, email } = JSON.parse(line) as { row: number; email: string };
        return [row, email];
      });
  }

  const unitsOf = async (place: number, key: string) =>
    (await accountOf(await call(place, "/v1/account", key))).usage.units;
  const held = async (place: number): Promise<number> => {
    const [row] = await sql`
      SELECT count(*)::int AS chunks FROM job_chunks WHERE state = 'claimed' AND owner = ${cluster.processOf(place)}`;
    return row.chunks;
  };
  /** Has a node take chunks of a job that others began: they look for it a while later. */
  async function moveTo(place: number, key: string, jobId: string): Promise<void> {
    expect((await post(0, `/v1/jobs/${jobId}/pause`, key)).status).toBe(200);
    expect((await post(place, `/v1/jobs/${jobId}/resume`, key)).status).toBe(200);
    while ((await held(place)) === 0) await Bun.sleep(1);
  }

  test("ids, cursors and addresses with a NUL, which PostgreSQL does not take, are refused as such", async () => {
    const key = await signUp();
    const json = { "Content-Type": "application/json" };
    const url = "https://example.com/hook";
    const made = await call(0, "/v1/webhooks", key, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ url }),
    });
    const hook = `/v1/webhooks/${(await jsonOf<{ webhook_id: string }>(made)).webhook_id}`;
    const calls: readonly (readonly [number, string, string, string?])[] = [
      [404, "GET", "/v1/jobs/a%00b"],
      [404, "GET", "/v1/jobs/a%00b/results"],
      [404, "GET", "/v1/jobs/a%00b/events"],
      [404, "DELETE", "/v1/jobs/a%00b"],
      [404, "POST", "/v1/jobs/a%00b/pause"],
      [404, "POST", "/v1/jobs/a%00b/start"],
      [404, "PUT", "/v1/jobs/a%00b/parts/1"],
      [400, "GET", "/v1/jobs?starting_after=a%00b"],
      [400, "GET", "/v1/account/invoices?starting_after=a%00b"],
      [404, "PATCH", "/v1/webhooks/a%00b", "{}"],
      [404, "DELETE", "/v1/webhooks/a%00b"],
      [404, "GET", "/v1/webhooks/a%00b/deliveries"],
      [400, "GET", `${hook}/deliveries?starting_after=a%00b`],
      [404, "POST", `${hook}/deliveries/a%00b/replay`],
      [400, "POST", "/v1/webhooks", JSON.stringify({ url: `${url}\0` })],
      [400, "PATCH", hook, JSON.stringify({ url: `${url}\0` })],
      [400, "POST", "/v1/jobs", JSON.stringify({ items: [], webhook_url: `${url}\0` })],
    ];
    const answers = await Promise.all(
      calls.map(async ([, method, path, body]) => {
        const { status } = await call(0, path, key, {
          method,
          ...(body === undefined ? {} : { headers: json, body }),
        });
        return [status, method, path];
      }),
    );
    expect(answers).toEqual(calls.map(([status, method, path]) => [status, method, path]));
  });

  test("a job that costs more than is left is refused through any node, as soon as the one before has ended", async () => {
    const key = await signUp();
    const rows = (name: string) => Array.from({ length: 600 }, (_, at) => `${name}${at}@good.com`);
    // Each node has read what is left before the first job.
    for (const place of [0, 1, 2]) expect((await jobOf(place, key, "none")).status).toBeUndefined();
    const { job_id: jobId } = await create(0, key, rows("one"));
    expect(await ended(0, key, jobId)).toMatchObject({ status: "completed", units_charged: 600 });
    for (const place of [1, 2, 0]) {
      const headers = { "Content-Type": "text/plain" };
      const body = rows("two").join("\n");
      expect((await call(place, "/v1/jobs", key, { method: "POST", headers, body })).status).toBe(402);
    }
    expect(await unitsOf(0, key)).toBe(600);
  });

  test("a job survives a node that is killed and one that hangs: each row once and in order, charged once", async () => {
    const key = await signUp("growth");
    const rows = Array.from({ length: ROWS }, (_, at) => `user.${at % 10 === 9 ? at - 1 : at}@good.com`);
    const { job_id: jobId } = await create(0, key, rows);
    await moveTo(1, key, jobId);
    cluster.nodes[1]?.child.kill("SIGKILL");
    await moveTo(2, key, jobId);
    cluster.nodes[2]?.child.kill("SIGSTOP");
    // What they hold is worked on by the node that is left.
    expect((await held(1)) + (await held(2))).toBeGreaterThan(0);
    const stoppedMs = performance.now();
    const job = await ended(0, key, jobId);
    if (process.env.CLUSTER_JOB_ROWS !== undefined) {
      console.log(
        `${ROWS} rows ended ${Math.round(performance.now() - stoppedMs)} ms after two of three nodes`,
      );
    }
    cluster.nodes[2]?.child.kill("SIGCONT");
    expect(job).toMatchObject({ status: "completed", units_charged: ROWS * 0.9 });
    expect(job.counts).toMatchObject({ processed: ROWS, duplicates: ROWS / 10 });
    await cluster.startNode(1);
    for (const place of [1, 2]) {
      expect((await jobOf(place, key, jobId)).units_charged).toBe(ROWS * 0.9);
      expect(await unitsOf(place, key)).toBe(ROWS * 0.9);
    }
    const results = await resultsOf(2, key, jobId);
    expect(results.length).toBe(ROWS);
    expect(results.findIndex(([row, email], at) => row !== at + 1 || email !== rows[at])).toBe(-1);
  }, 90_000);

  test("a small job is done while a large one of another account runs, and so are single checks", async () => {
    const [large, small] = [await signUp("growth"), await signUp()];
    const rows = Array.from({ length: ROWS * 5 }, (_, at) => `large.${at}@good.com`);
    const { job_id: largeId } = await create(0, large, rows);
    const { job_id: smallId } = await create(1, small, ["one@good.com", "two@good.com"]);
    const checked = await post(2, "/v1/phone/validate", small, { phone: "+5511987654321" });
    const done = await ended(2, small, smallId);
    expect([checked.status, done.counts.processed]).toEqual([200, 2]);
    // One that has ended meanwhile is refused.
    expect((await post(2, `/v1/jobs/${largeId}/cancel`, large)).status).toBeOneOf([200, 409]);
    const last = await ended(1, large, largeId);
    expect(last.status).toBeOneOf(["cancelled", "completed"]);
    expect(Date.parse(done.finished_at ?? "")).toBeLessThan(Date.parse(last.finished_at ?? ""));
    expect(last.units_charged).toBe(last.counts.processed ?? -1);
    expect((await resultsOf(0, large, largeId)).length).toBe(last.units_charged);
    expect(await unitsOf(2, large)).toBe(last.units_charged);
    expect((await call(0, `/v1/jobs/${largeId}`, large, { method: "DELETE" })).status).toBe(204);
    expect((await call(1, `/v1/jobs/${largeId}/results`, large)).status).toBe(404);
  }, 60_000);

  test("an upload whose parts are sent to several nodes is one input", async () => {
    const key = await signUp();
    const headers = { "Content-Type": "text/csv" };
    const made = await call(0, "/v1/jobs?upload=parts", key, { method: "POST", headers });
    const { job_id: jobId } = await jsonOf<Job>(made);
    const put = (place: number, n: number, body: string) =>
      call(place, `/v1/jobs/${jobId}/parts/${n}`, key, { method: "PUT", headers, body });
    const statuses = await Promise.all([
      put(2, 2, "one@good.com\ntwo@go"),
      put(1, 1, "email\nzero@good.com\n"),
      put(0, 3, "od.com\n"),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect((await put(1, 3, "od.com\nthree@good.com\n")).status).toBe(204);
    const starts = await Promise.all([0, 1, 2].map((place) => post(place, `/v1/jobs/${jobId}/start`, key)));
    expect(starts.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect((await ended(1, key, jobId)).units_charged).toBe(4);
    const emails = (await resultsOf(0, key, jobId)).map(([, email]) => email);
    expect(emails).toEqual(["zero@good.com", "one@good.com", "two@good.com", "three@good.com"]);
    expect((await put(2, 4, "x")).status).toBe(409);
  }, 30_000);

  test("a job that runs out of units stops at the last one, and continues after an upgrade on another node", async () => {
    const key = await signUp();
    const phones = Array.from({ length: 400 }, (_, n) => `+55119${80_000_000 + n}`);
    await (await post(1, "/v1/phone/batch", key, { phones })).arrayBuffer();
    const rows = Array.from({ length: 900 }, (_, at) => `user.${at}@good.com`);
    const { job_id: jobId } = await create(2, key, rows, "?when_out_of_units=pause");
    while ((await jobOf(0, key, jobId)).status !== "paused") await Bun.sleep(20);
    expect(await jobOf(0, key, jobId)).toMatchObject({ status_reason: "out_of_units", units_charged: 600 });
    expect(await unitsOf(1, key)).toBe(1_000);
    expect((await post(1, "/v1/account/plan", key, { plan: "growth" })).status).toBe(200);
    expect(await ended(2, key, jobId)).toMatchObject({ status: "completed", units_charged: 900 });
    expect((await resultsOf(1, key, jobId)).map(([, email]) => email)).toEqual(rows);
  }, 60_000);

  test("an event is delivered by one node, once", async () => {
    const key = await signUp();
    const made = await post(0, "/v1/webhooks", key, {
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ["job.completed"],
    });
    expect(made.status).toBe(201);
    const { webhook_id: webhookId } = await jsonOf<{ webhook_id: string }>(made);
    const jobs = [await create(0, key, ["a@good.com"])];
    await ended(1, key, jobs[0]?.job_id ?? "");
    jobs.push(await create(2, key, ["b@good.com"]));
    await ended(0, key, jobs[1]?.job_id ?? "");
    type Deliveries = { readonly data: readonly { readonly state: string; readonly attempts: number }[] };
    const deliveries = async (place: number) =>
      (await jsonOf<Deliveries>(await call(place, `/v1/webhooks/${webhookId}/deliveries`, key))).data;
    const isDone = (all: Deliveries["data"]) => all.filter(({ state }) => state === "delivered").length === 2;
    while (!isDone(await deliveries(1))) await Bun.sleep(20);
    expect((await deliveries(2)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
    ]);
    expect(sent.sort()).toEqual(jobs.map(({ job_id }) => `job.completed ${job_id}`).sort());
  }, 30_000);
});
