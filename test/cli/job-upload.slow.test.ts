import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { startTestServer } from "../support/server.ts";
import { openCommandRoom } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const [room, server] = await Promise.all([openCommandRoom(), startTestServer()]);
afterAll(() => Promise.all([server[Symbol.asyncDispose](), room[Symbol.asyncDispose]()]));

const PART_BYTES = 4_194_304;
const ROW_BYTES = 65_536;
const TASK = JSON.stringify({ kind: "email", deep: false, dns: false });

const bytesOf = (rows: readonly string[]) =>
  new TextEncoder().encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
const digestOf = (rows: readonly string[]) =>
  new Bun.CryptoHasher("sha256").update(bytesOf(rows)).digest("base64");

/** Begins an upload of these parts, as an interrupted run leaves it. */
async function halfSent(parts: readonly (readonly string[])[], fields = {}) {
  const env = { ASSAY_API_KEY: await server.signUp("free") };
  const client = createClient({ baseUrl: server.url, apiKey: env.ASSAY_API_KEY });
  const { job_id: jobId } = await client.createUpload("application/x-ndjson", { dns: false, ...fields });
  for (const [at, part] of parts.entries()) await client.putJobPart(jobId, at + 1, bytesOf(part));
  const keep = (output: string, digests: readonly string[], at = server.url) =>
    room.write(
      `${output}.job`,
      JSON.stringify({ version: 1, jobId, server: at, task: TASK, parts: digests }),
    );
  return { env, client, jobId, keep, attached: ["--server", server.url, "--attach", jobId] };
}

describe("an upload whose file has become shorter", () => {
  test("by what was in parts that are sent already is refused, and nothing is started", async () => {
    // With its quotes and its line end a row has the bytes that fill a part exactly.
    const rows = Array.from({ length: PART_BYTES / ROW_BYTES }, (_, i) =>
      `${i}`.padStart(ROW_BYTES - 3, "x"),
    );
    const { env, client, jobId, keep, attached } = await halfSent([rows, ["more@good.com"]]);
    await room.write("short.txt", rows.join("\n"));
    await keep("short.csv", [digestOf(rows), digestOf(["more@good.com"])]);
    const resumed = ["--server", server.url, "--job", "--resume"];
    for (const back of [attached, resumed]) {
      const ran = await room.run(["short.txt", "--no-dns", "-q", "-o", "short.csv", ...back], { env });
      expect(ran).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: "The input is not the one that the upload was begun with; start anew with --force.\n",
      });
      expect((await client.job(jobId)).status).toBe("receiving");
    }
  });

  test("and whose parts are not known here is sent anew, with the fields of its job", async () => {
    const fields = { name: "customers", when_out_of_units: "pause" } as const;
    const { env, client, jobId, attached } = await halfSent([["ann@good.com"], ["old@good.com"]], fields);
    await room.write("one.txt", "ann@good.com");
    const { exitCode, stdout, stderr } = await room.run(["one.txt", ...attached], { env });
    const jobs = (await client.jobs()).data;
    expect([exitCode, stdout.trimEnd().split("\n").length]).toEqual([0, 2]);
    expect(jobs).toMatchObject([
      { name: "customers", counts: { rows: 1 }, options: { dns: false, when_out_of_units: "pause" } },
    ]);
    expect(stderr).toContain(`The upload ${jobId} is sent anew: the job is ${jobs[0]?.job_id}.`);
  });
});

test("an upload stays where the file to send anew cannot be read, or is of another kind", async () => {
  const { env, client, jobId, attached } = await halfSent([["ann@good.com"]]);
  await room.write("phones.txt", "+5511987654321");
  for (const args of [["missing.txt"], ["phones", "phones.txt"]]) {
    expect((await room.run([...args, ...attached], { env })).exitCode).toBe(1);
    expect((await client.job(jobId)).status).toBe("receiving");
  }
});

test("the last part that was being sent when the run ended is sent again", async () => {
  const rows = ["ann@good.com", "bob@good.com"];
  const { env, client, jobId, keep } = await halfSent([]);
  await room.write("last.txt", rows.join("\n"));
  await keep("last.csv", [digestOf(rows)]);
  const args = ["last.txt", "--no-dns", "-q", "-o", "last.csv", "--server", server.url, "--job", "--resume"];
  expect(await room.run(args, { env })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  expect((await client.job(jobId)).counts.rows).toBe(2);
});

test("a run that comes back while the start of its job goes on joins it", async () => {
  const rows = ["ann@good.com", "bob@good.com"];
  const { env, client, jobId, keep } = await halfSent([rows]);
  await using relay = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { method, url, headers } = request;
      const body = method === "PUT" ? await request.bytes() : null;
      // The former run's start arrives between what this one asks for and what it sends.
      if (method === "PUT") await client.startJob(jobId);
      const { pathname, search } = new URL(url);
      return fetch(server.url + pathname + search, { method, headers, body, decompress: false });
    },
  });
  await room.write("joined.txt", rows.join("\n"));
  await keep("joined.csv", [digestOf(rows)], relay.url.origin);
  const args = ["joined.txt", "--no-dns", "-q", "-o", "joined.csv", "--server", relay.url.origin];
  const ran = await room.run([...args, "--job", "--resume"], { env });
  expect(ran).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  expect((await client.jobs()).data.map(({ job_id }) => job_id)).toEqual([jobId]);
});
