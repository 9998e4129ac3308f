import { expect, setDefaultTimeout, test } from "bun:test";
import type { Job } from "../../src/client/contract-types.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { jsonOf } from "../support/json.ts";
import { startProcess } from "../support/process.ts";
import { refusalOf } from "../support/server.ts";
import { canMountDisks, mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";

setDefaultTimeout(120_000);

const DISK_MB = 64;
/** Less than jobs leave to everything else on such a disk. */
const ALMOST_FULL_BYTES = 8_388_608;
const ROWS = 300_000;
/** One row in this many repeats the one before it. */
const REPEATED_EVERY = 10;
const SINGLES = 100;

const addressOf = (row: number) => addressAt((row + 1) % REPEATED_EVERY === 0 ? row - 1 : row);
const addressAt = (row: number) => `r${row}@d${row % 50}.many.com`;
/** Chunks have a multiple of ten rows. */
const distinctOf = (rows: number) => rows - rows / REPEATED_EVERY;

/** A server on a small disk with a job that is in the middle of its rows. */
async function openInJob() {
  await using stack = new AsyncDisposableStack();
  const disk = mountSmallDisk(DISK_MB);
  stack.use(disk);
  const dns = stack.use(await startDns(FAULT_ZONE));
  const server = stack.use(await startProcess({ DATA_DIR: disk.path, DNS_SERVERS: dns.server.address }));
  const caller = callerOf(server.url);
  const key = await caller.signUp();
  const { call } = caller;
  const rows = Array.from({ length: ROWS }, (_, row) => addressOf(row)).join("\n");
  const create = () => call("/v1/jobs", { key, body: rows, headers: { "Content-Type": "text/plain" } });
  const created = await create();
  expect(created.status).toBe(202);
  const { job_id: jobId } = await jsonOf<Job>(created);
  const view = async () => jsonOf<Job>(await call(`/v1/jobs/${jobId}`, { key }));
  await until("row of the job", async () => ((await view()).counts.processed ?? 0) > 0);
  const opened = stack.move();
  return {
    disk,
    server,
    caller,
    key,
    jobId,
    view,
    create,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function chunksInWork({ call }: Caller): Promise<number> {
  const metrics = await (await call("/metrics")).text();
  return Number(/^assay_job_chunks_in_work (\d+)$/m.exec(metrics)?.[1]);
}

/** Frees the disk, and compares the job with what must have become of it. */
async function expectWhole(
  disk: SmallDisk,
  caller: Caller,
  { key, jobId, view }: { readonly key: string; readonly jobId: string; readonly view: () => Promise<Job> },
): Promise<void> {
  disk.free();
  await until("end of the job", async () => (await view()).status === "completed", 60_000);
  expect(await view()).toMatchObject({ units_charged: distinctOf(ROWS), counts: { processed: ROWS } });
  expect(await caller.unitsOf(key)).toBe(distinctOf(ROWS));
  expect(await readRows(caller, key, jobId)).toBe(ROWS);
}

/** Returns how many rows can be read; they must come in their order, each once. */
async function readRows({ call }: Caller, key: string, jobId: string): Promise<number> {
  const lines = (await (await call(`/v1/jobs/${jobId}/results`, { key })).text()).split("\n").slice(0, -1);
  for (const [row, line] of lines.entries()) {
    const start = `{"row":${row + 1},"email":"${addressOf(row)}",`;
    if (!line.startsWith(start)) expect(line).toStartWith(start);
  }
  return lines.length;
}

test.skipIf(!canMountDisks)(
  "a job pauses while the disk still has room for others, says why, and goes on by itself when there is room again",
  async () => {
    await using opened = await openInJob();
    const { disk, server, caller, key, jobId, view } = opened;
    const { call } = caller;
    disk.fill(ALMOST_FULL_BYTES);
    await until("pause", async () => (await view()).status === "paused", 60_000);
    // Chunks that were in work are finished first.
    await until("end of its chunks", async () => (await chunksInWork(caller)) === 0);
    // One that the disk did not take while it took later ones is done as soon as it can be.
    await until(
      "end of all gaps",
      async () => (await readRows(caller, key, jobId)) === (await view()).counts.processed,
    );
    const paused = await view();
    const { processed = 0 } = paused.counts;
    expect([paused.status_reason, paused.units_charged]).toEqual(["storage", distinctOf(processed)]);
    expect(await readRows(caller, key, jobId)).toBe(processed);

    const single = await caller.signUp();
    for (let n = 0; n < SINGLES; n += 1) {
      const reply = await call(`/v1/email/verify?email=one.${n}@good.com`, { key: single });
      expect([reply.status, reply.headers.get("X-Units-Charged")]).toEqual([200, "1"]);
      await reply.body?.cancel();
    }
    const batch = await call("/v1/email/batch", {
      key: single,
      body: { emails: ["a@good.com", "b@good.com"] },
    });
    expect(batch.status).toBe(200);
    await batch.body?.cancel();
    expect(await refusalOf(await opened.create())).toBe("503 storage_unavailable");
    const upload = await call("/v1/jobs?upload=parts", { key: single, method: "POST" });
    const { job_id: uploadId } = await jsonOf<Job>(upload);
    const part = await call(`/v1/jobs/${uploadId}/parts/1`, {
      key: single,
      method: "PUT",
      body: "a@good.com\n",
    });
    expect(await refusalOf(part)).toBe("503 storage_unavailable");
    const { checks } = await jsonOf<{ checks: { store_space: { status: string; output: string } } }>(
      await call("/health"),
    );
    expect(checks.store_space).toMatchObject({
      status: "warn",
      output: "Jobs that wait for room on the disk: 1.",
    });
    expect((await view()).counts).toEqual(paused.counts);

    await expectWhole(disk, caller, { key, jobId, view });
    expect(await caller.unitsOf(single)).toBe(SINGLES + 2);
    expect(server.logged()).toEqual([]);
  },
);

test.skipIf(!canMountDisks)(
  "a full disk holds a job up, which charges nothing meanwhile and ends complete",
  async () => {
    await using opened = await openInJob();
    const { disk, server, caller, key, jobId, view } = opened;
    const single = await caller.signUp();
    disk.fill();
    const refused = async () => {
      const reply = await caller.call("/v1/phone/validate?phone=%2B442079460000", { key: single });
      await reply.body?.cancel();
      return reply.status === 503;
    };
    await until("refusal", refused, 60_000);
    await until("end of its chunks", async () => (await chunksInWork(caller)) === 0);
    const { counts, units_charged: units } = await view();
    expect(units).toBe(distinctOf(counts.processed ?? 0));
    await readRows(caller, key, jobId);
    expect((await view()).counts).toEqual(counts);
    await expectWhole(disk, caller, { key, jobId, view });
    expect(server.logged()).toEqual([]);
  },
);
