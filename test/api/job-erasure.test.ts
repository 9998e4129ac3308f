import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "../../src/client/contract-types.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { startFileServer, TEST_ZONE } from "../support/server.ts";

const server = await startFileServer({ zone: `${TEST_ZONE}*.silent.com !silent\n` });

/** What the tables hold of the inputs and results of a job. */
function storedBodies(jobId: string): readonly Buffer[] {
  using database = new Database(join(server.dataDir, "assay.db"), { readonly: true });
  return ["job_inputs", "job_results"].flatMap((table) =>
    database
      .query<{ body: Uint8Array }, [string]>(`SELECT body FROM ${table} WHERE job_id = ?`)
      .all(jobId)
      .map(({ body }) => Buffer.from(body)),
  );
}

/** The files of the data directory that hold the bytes. */
function filesWith(bytes: Buffer): readonly string[] {
  const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(bytes))
    .map(({ name }) => name);
}

async function completedJob(key: string): Promise<string> {
  const { job_id: jobId } = await jsonOf<Job>(
    await server.call("/v1/jobs", {
      key,
      method: "POST",
      body: Array.from({ length: 40 }, (_, at) => `someone${at}@good.com\n`).join(""),
      headers: { "Content-Type": "text/plain" },
    }),
  );
  await until("the end of the job", async () => {
    const job = await jsonOf<Job>(await server.call(`/v1/jobs/${jobId}`, { key }));
    return job.status === "completed";
  });
  return jobId;
}

test("the input and the results of a deleted job are in no file, as soon as the reply says so", async () => {
  const key = await server.signUp();
  const jobId = await completedJob(key);
  const bodies = storedBodies(jobId);
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(filesWith(body)).not.toEqual([]);
  expect((await server.call(`/v1/jobs/${jobId}`, { key, method: "DELETE" })).status).toBe(204);
  for (const body of bodies) expect(filesWith(body)).toEqual([]);
});

test("where a backup reads the log meanwhile, they are gone soon after it has ended", async () => {
  const key = await server.signUp();
  const jobId = await completedJob(key);
  const bodies = storedBodies(jobId);
  const backup = new Database(join(server.dataDir, "assay.db"), { readonly: true });
  backup.run("BEGIN");
  backup.query("SELECT count(*) FROM job_inputs").get();
  expect((await server.call(`/v1/jobs/${jobId}`, { key, method: "DELETE" })).status).toBe(204);
  for (const body of bodies) expect(filesWith(body)).not.toEqual([]);
  backup.run("COMMIT");
  backup.close();
  await until("the clearing of the log", () => bodies.every((body) => filesWith(body).length === 0));
});

test("a job that is deleted while its domains are looked up is gone as soon as the reply says so", async () => {
  const key = await server.signUp();
  const { job_id: jobId } = await jsonOf<Job>(
    await server.call("/v1/jobs", {
      key,
      method: "POST",
      body: Array.from({ length: 5_000 }, (_, at) => `someone@host${at}.silent.com\n`).join(""),
      headers: { "Content-Type": "text/plain" },
    }),
  );
  await until("the first look-ups", async () => {
    const { status } = await jsonOf<Job>(await server.call(`/v1/jobs/${jobId}`, { key }));
    return status === "running";
  });
  const bodies = storedBodies(jobId);
  expect(bodies).toHaveLength(2);
  expect((await server.call(`/v1/jobs/${jobId}`, { key, method: "DELETE" })).status).toBe(204);
  expect(storedBodies(jobId)).toEqual([]);
  for (const body of bodies) expect(filesWith(body)).toEqual([]);
});

test("the names of the columns are gone with the rows", async () => {
  const key = await server.signUp();
  const { job_id: jobId } = await jsonOf<Job>(
    await server.call("/v1/jobs", {
      key,
      method: "POST",
      body: "email,paid by Ann Other\nann@good.com,5\n",
      headers: { "Content-Type": "text/csv" },
    }),
  );
  const path = `/v1/jobs/${jobId}`;
  await until("the end of the job", async () => {
    return (await jsonOf<Job>(await server.call(path, { key }))).status === "completed";
  });
  const name = Buffer.from("paid by Ann Other");
  expect(filesWith(name)).not.toEqual([]);
  expect((await server.call(path, { key, method: "DELETE" })).status).toBe(204);
  expect(filesWith(name)).toEqual([]);
});
