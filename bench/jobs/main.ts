import { Database } from "bun:sqlite";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openBenchFolder } from "../folder.ts";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { type Aim, CORPUS } from "../load/jobs.ts";
import { memoryMb, resetPeak } from "../load/proc.ts";
import { startServerProcess } from "../load/server-process.ts";
import { loadWarning, machineLine, readMachine } from "../machine.ts";
import { tableText } from "../print.ts";
import { figuresOf } from "./figures.ts";
import { startCpu } from "./server-cpu.ts";

// One job of many rows, CSV in and CSV out, beside synchronous batches of the same server: `bun bench/jobs/main.ts ROWS`.

type View = {
  readonly job_id: string;
  readonly status: string;
  readonly counts: { readonly processed: number };
};

const ROWS_DEFAULT = 10_000_000;
const BATCH_SIZE_MAX = 100_000;
const POLL_MS = 50;
const rows = Number(process.argv[2] ?? ROWS_DEFAULT);
if (!Number.isSafeInteger(rows) || rows < 1) {
  console.error("bun run bench:jobs [ROWS]: a whole number of rows, 10000000 unless said.");
  process.exit(1);
}
const batchSize = Math.min(BATCH_SIZE_MAX, rows);
const batches = Math.max(3, Math.min(20, Math.round(rows / batchSize / 5)));

const machine = await readMachine();
console.log(machineLine(machine));
console.log(loadWarning(machine) ?? "");
using own = openBenchFolder("bench-jobs");
const folder = own.path;
process.env.BENCH_DIR = folder;
await using dns = await startDns(addressCorpus(CORPUS).zone);
await using server = await startServerProcess({ dns: dns.address });
await measure(server);

async function measure(server: Aim & { readonly pid: number }): Promise<void> {
  const path = join(folder, "input.csv");
  await writeInput(path);
  const before = await batchesPerSecond(server);
  resetPeak(server.pid);
  const sampler = sampleDisk();
  const sentMs = performance.now();
  const created = await call(server, "/v1/jobs", {
    method: "POST",
    headers: { "Content-Type": "text/csv" },
    body: Bun.file(path),
  });
  const acceptedMs = performance.now();
  if (created.status !== 202) throw new Error(`The job was refused: ${await created.text()}`);
  const { job_id } = (await created.json()) as View;
  const readingMb = memoryMb(server.pid)?.peak ?? Number.NaN;
  const jobCpu = startCpu(server.pid);
  const firstResultMs = await firstResult(server, job_id);
  const job = await ended(server, job_id);
  const jobMicroseconds = jobCpu.perRow(rows);
  const endedMs = performance.now();
  const peakMb = memoryMb(server.pid)?.peak ?? Number.NaN;
  const diskBytes = sampler.stop();
  const stored = storedBytes(job_id);
  const readMs = await readAll(server, job_id);
  const batchCpu = startCpu(server.pid);
  const after = await batchesPerSecond(server);
  const batchMicroseconds = batchCpu.perRow((batches + 1) * batchSize);
  if (job.status !== "completed" || job.counts.processed !== rows)
    throw new Error("The job did not complete");
  const measured = {
    rows,
    batchSize,
    before,
    after,
    sentMs,
    acceptedMs,
    endedMs,
    firstResultMs,
    readMs,
    jobMicroseconds,
    batchMicroseconds,
    readingMb,
    peakMb,
    diskBytes,
    stored,
  };
  console.log(tableText(["what", "measured", "note"], figuresOf(measured)));
}

/** Rows that repeat the corpus with a number of their own in each address. */
async function writeInput(path: string): Promise<void> {
  const { cases } = addressCorpus(CORPUS);
  const writer = Bun.file(path).writer({ highWaterMark: 1_048_576 });
  writer.write("id,name,email\n");
  for (let row = 0; row < rows; row++) writer.write(`${row},Customer ${row},${addressOf(cases, row)}\n`);
  await writer.end();
}

function addressOf(cases: readonly { readonly text: string }[], row: number): string {
  const text = cases[row % cases.length]?.text ?? "";
  const at = text.lastIndexOf("@");
  const numbered = at === -1 ? `${text}${row}` : `${text.slice(0, at)}${row}${text.slice(at)}`;
  return numbered.includes(",") ? numbered.replaceAll(",", "") : numbered;
}

async function batchesPerSecond(server: Aim): Promise<number> {
  const { cases } = addressCorpus(CORPUS);
  const bodies = Array.from({ length: 2 }, (_, batch) =>
    JSON.stringify({
      emails: Array.from({ length: batchSize }, (_, at) => addressOf(cases, batch * batchSize + at)),
    }),
  );
  const run = async (batch: number) => {
    const body = bodies[batch % bodies.length] ?? "";
    const headers = { "Content-Type": "application/json" };
    await drain(await call(server, "/v1/email/batch", { method: "POST", headers, body }));
  };
  await run(0);
  const startedMs = performance.now();
  for (let batch = 0; batch < batches; batch++) await run(batch);
  return (batches * batchSize * 1_000) / (performance.now() - startedMs);
}

async function firstResult(server: Aim, jobId: string): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const reply = await call(server, `/v1/jobs/${jobId}/results`, {
      headers: { "Accept-Encoding": "identity" },
    });
    const reader = reply.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    if (first?.done === false && first.value.byteLength > 0) return performance.now() - startedMs;
    await Bun.sleep(POLL_MS);
  }
}

async function ended(server: Aim, jobId: string): Promise<View> {
  for (;;) {
    const job = (await (await call(server, `/v1/jobs/${jobId}`)).json()) as View;
    if (!["queued", "running"].includes(job.status)) return job;
    await Bun.sleep(POLL_MS);
  }
}

async function readAll(server: Aim, jobId: string): Promise<number> {
  const startedMs = performance.now();
  await drain(await call(server, `/v1/jobs/${jobId}/results?format=csv`));
  return performance.now() - startedMs;
}

async function drain(reply: Response): Promise<void> {
  if (!reply.ok) throw new Error(await reply.text());
  for await (const _ of reply.body ?? []);
}

function call({ url, key }: Aim, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url + path, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${key}` },
  });
}

/** The bytes under the data directory at their highest, without the input. */
function sampleDisk() {
  let most = 0;
  const look = () => {
    let bytes = 0;
    for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!parentPath.includes("data")) continue;
      bytes += statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0;
    }
    most = Math.max(most, bytes);
  };
  const timer = setInterval(look, 250);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return most;
    },
  };
}

function storedBytes(jobId: string): number {
  const entry = readdirSync(folder, { recursive: true }).find((name) => `${name}`.endsWith("assay.db"));
  using database = new Database(join(folder, `${entry}`), { readonly: true });
  const sum = (table: string) =>
    database
      .query<{ bytes: number }, [string]>(`SELECT sum(length(body)) AS bytes FROM ${table} WHERE job_id = ?`)
      .get(jobId)?.bytes ?? 0;
  return sum("job_inputs") + sum("job_results");
}
