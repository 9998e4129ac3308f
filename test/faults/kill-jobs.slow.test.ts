import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "../../src/client/contract-types.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { checkBooks } from "../billing/books.ts";
import { type Caller, callerOf, FAULT_ZONE, quantile, until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import {
  midMonthOffsetMs,
  type ServerProcess,
  startShiftedProcess,
  temporaryFolder,
} from "../support/process.ts";

/** `KILLS=100 bun test test/faults/kill-jobs.slow.test.ts` goes on for longer. The first two are in the upload. */
const KILLS = Math.max(5, Number(process.env.KILLS ?? 6));
setDefaultTimeout(Math.max(600_000, KILLS * 15_000));

const KILLS_IN_UPLOAD = 2;
const KILLS_IN_DOWNLOAD = 2;
/** From the start of an upload or of a download on, or from the first chunk on that a server verifies. */
const KILL_MS_MAX = 150;
const THREADS = 2;
const CHUNK_ROWS_MAX = 4_000;
/** One in each thread, one that waits for each, and one whose domains are looked up. */
const CHUNKS_HELD_MAX = THREADS * 2 + 1;
/** Enough that a job outlives most kills. */
const ROWS = Math.min(4_000_000, 30_000 * KILLS);
const PARTS = 4;
/** One row in this many repeats an earlier one. */
const REPEATED_EVERY = 10;

const DISTINCT = ROWS - Math.floor((ROWS - 1) / REPEATED_EVERY);

/** The address of a row of the n-th job. */
function addressOf(job: number, row: number): string {
  const own = row > 0 && row % REPEATED_EVERY === 0 ? Math.floor(row / 2) | 1 : row;
  return `j${job}.r${own}@d${own % 300}.many.com`;
}

function partsOf(job: number): readonly string[] {
  const size = Math.ceil(ROWS / PARTS);
  return Array.from({ length: PARTS }, (_, part) => {
    const lines: string[] = [];
    for (let row = part * size; row < Math.min(ROWS, (part + 1) * size); row++) {
      lines.push(`${addressOf(job, row)}\n`);
    }
    return lines.join("");
  });
}

type Environment = { readonly DATA_DIR: string; readonly [name: string]: string };

/** A server that is killed and started again in the same folder. */
class Killed {
  private running: ServerProcess | undefined;
  readonly startsMs: number[] = [];
  readonly heldChunks: number[] = [];
  /** Rows that threads had begun to verify, or had verified, and that were on no disk: at each kill that met some. */
  readonly lostRows: number[] = [];
  kills = 0;
  private doneRows = 0;
  private readonly marksFile: string;
  private readonly environment: Environment;

  constructor(environment: Environment) {
    this.marksFile = join(environment.DATA_DIR, "marks");
    this.environment = {
      ...environment,
      TEST_CLOCK_OFFSET_MS: `${midMonthOffsetMs()}`,
      TEST_MARKS_FILE: this.marksFile,
      TEST_BATCH_WORKER: new URL("../support/marking-worker.ts", import.meta.url).href,
    };
  }

  async start(): Promise<Caller> {
    writeFileSync(this.marksFile, "");
    this.running = await startShiftedProcess(this.environment);
    if (this.kills > 0) this.startsMs.push(this.running.startMs);
    return callerOf(this.running.url);
  }

  /** Kills after a while by chance, and starts anew once what was under way has met its end. */
  async killDuring(work: Promise<unknown>): Promise<Caller> {
    const settled = work.catch(() => undefined);
    await Bun.sleep(Math.random() * KILL_MS_MAX);
    await this.running?.end("SIGKILL");
    await settled;
    this.kills += 1;
    this.countLost();
    return this.start();
  }

  async end(): Promise<void> {
    await this.running?.end("SIGTERM");
  }

  /** Whether this server has begun to verify a chunk. */
  isVerifying(): boolean {
    return readFileSync(this.marksFile, "utf8") !== "";
  }

  private countLost(): void {
    using database = new Database(join(this.environment.DATA_DIR, "assay.db"), { readonly: true });
    const sql =
      "SELECT count(*) FILTER (WHERE state = 'claimed') AS held, coalesce(sum(rows_done), 0) AS doneRows FROM job_chunks";
    const { held, doneRows } = database.query<{ held: number; doneRows: number }, []>(sql).get() ?? {
      held: 0,
      doneRows: 0,
    };
    if (held > 0) this.heldChunks.push(held);
    const marks = readFileSync(this.marksFile, "utf8").split("\n").map(Number);
    const begunRows = marks.reduce((sum, rows) => sum + rows, 0);
    const lostRows = begunRows - (doneRows - this.doneRows);
    if (lostRows > 0) this.lostRows.push(lostRows);
    this.doneRows = doneRows;
  }
}

async function viewOf({ call }: Caller, key: string, jobId: string): Promise<Job> {
  return jsonOf<Job>(await call(`/v1/jobs/${jobId}`, { key }));
}

async function put({ call }: Caller, key: string, jobId: string, part: number, body: string): Promise<void> {
  const reply = await call(`/v1/jobs/${jobId}/parts/${part + 1}`, {
    key,
    method: "PUT",
    body,
    headers: { "Content-Type": "text/plain" },
  });
  expect(reply.status).toBe(204);
}

async function start({ call }: Caller, key: string, jobId: string): Promise<void> {
  const reply = await call(`/v1/jobs/${jobId}/start`, { key, method: "POST" });
  expect(reply.status).toBe(202);
  await reply.json();
}

/** Counts the rows of a download, which must come in their order, each once. */
function createRowCheck(job: number) {
  let rows = 0;
  let rest = "";
  return {
    take(text: string): void {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const expected = `{"row":${rows + 1},"email":"${addressOf(job, rows)}",`;
        if (!line.startsWith(expected)) expect(line).toStartWith(expected);
        rows += 1;
      }
    },
    rows: () => rows,
  };
}

test("killed again and again in uploads, jobs and downloads, every row is there once and in order, and each distinct one is charged once", async () => {
  using folder = temporaryFolder("kill-jobs");
  await using dns = await startFixtureServer({ zone: FAULT_ZONE });
  const server = new Killed({
    DATA_DIR: folder.path,
    DNS_SERVERS: dns.address,
    WORKER_THREADS: `${THREADS}`,
  });
  let caller = await server.start();
  const key = await caller.signUp("scale");
  const jobIds: string[] = [];

  async function began(): Promise<string> {
    const parts = partsOf(jobIds.length);
    const created = await caller.call("/v1/jobs?upload=parts", { key, method: "POST" });
    const { job_id: jobId } = await jsonOf<Job>(created);
    jobIds.push(jobId);
    for (const [part, body] of parts.entries()) {
      if (part === 1 && server.kills === 0) {
        caller = await server.killDuring(put(caller, key, jobId, part, body));
      }
      await put(caller, key, jobId, part, body);
    }
    if (server.kills === 1) caller = await server.killDuring(start(caller, key, jobId));
    await start(caller, key, jobId);
    return jobId;
  }

  let jobId = await began();
  expect(server.kills).toBe(KILLS_IN_UPLOAD);
  let before = 0;
  while (server.kills < KILLS - KILLS_IN_DOWNLOAD) {
    const job = await viewOf(caller, key, jobId);
    expect(job.counts.processed).toBeGreaterThanOrEqual(before);
    before = job.counts.processed ?? 0;
    if (job.status === "completed") {
      jobId = await began();
      before = 0;
    }
    // Where only its end was missing, no chunk is left to verify.
    const hasEnded = async () => (await viewOf(caller, key, jobId)).status === "completed";
    await until("chunk in a thread", async () => server.isVerifying() || (await hasEnded()), 60_000);
    caller = await server.killDuring(Promise.resolve());
  }
  for (const each of jobIds) {
    await until(
      "end of the job",
      async () => {
        const { status } = await viewOf(caller, key, each);
        expect(["queued", "running", "completed"]).toContain(status);
        return status === "completed";
      },
      300_000,
    );
    expect(await viewOf(caller, key, each)).toMatchObject({
      counts: { rows: ROWS, distinct: DISTINCT, processed: ROWS, deliverable: ROWS },
      units_charged: DISTINCT,
    });
  }
  for (const [job, each] of jobIds.entries()) {
    const check = createRowCheck(job);
    let bytes = 0;
    for (let isRead = false; !isRead; ) {
      const reading = (async () => {
        const reply = await caller.call(`/v1/jobs/${each}/results`, {
          key,
          headers: { "Accept-Encoding": "identity", ...(bytes > 0 ? { Range: `bytes=${bytes}-` } : {}) },
        });
        expect(reply.status).toBe(bytes > 0 ? 206 : 200);
        const decoder = new TextDecoder();
        for await (const piece of reply.body ?? []) {
          bytes += piece.byteLength;
          check.take(decoder.decode(piece, { stream: true }));
        }
        isRead = true;
      })();
      if (server.kills < KILLS) caller = await server.killDuring(reading);
      else await reading;
    }
    expect([job, check.rows()]).toEqual([job, ROWS]);
  }
  const units = await caller.unitsOf(key);
  expect(units).toBe(DISTINCT * jobIds.length);
  await server.end();
  checkBooks(join(folder.path, "assay.db"), new Map(), (totals) => expect(totals.size).toBe(1));
  const shown = (values: readonly number[]) =>
    values.length === 0
      ? "none"
      : `${Math.round(quantile(values, 0.5))} in the median, ${Math.round(Math.max(...values))} at most`;
  process.stdout.write(
    `${server.kills} kills, ${jobIds.length} jobs of ${ROWS} rows, ${units} units; ` +
      `starts, ms: ${shown(server.startsMs)}; chunks held at ${server.heldChunks.length} of the kills: ${shown(server.heldChunks)}; ` +
      `rows verified in vain at ${server.lostRows.length} of them: ${shown(server.lostRows)}\n`,
  );
  expect(Math.max(...server.heldChunks)).toBeWithin(1, CHUNKS_HELD_MAX + 1);
  expect(Math.max(0, ...server.lostRows)).toBeLessThanOrEqual(THREADS * CHUNK_ROWS_MAX);
});
