import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { createInputsInReading } from "../../src/jobs/inputs-in-reading.ts";
import { createJobEraser } from "../../src/jobs/job-eraser.ts";
import { frameBytes } from "../../src/jobs/uploads/part-frames.ts";
import { createSharedParts } from "../../src/jobs/uploads/shared-parts.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { DAY_MS } from "../../src/platform/days.ts";
import type { AnnouncedJob } from "../../src/store/lease-port.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { claimed, finish, finishedChunk, jobRecord, startedJob } from "../store/job-conformance.ts";
import { NOON, unitsOf } from "../store/store-conformance.ts";
import { event, webhookRecord } from "../store/webhook-conformance.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

async function* bytesOf(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield new TextEncoder().encode(text);
}

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so leases are not tested", () => {});
}

describe.if(isPostgresInstalled)("leases of two processes", () => {
  let processes: TwoProcesses;
  let sql: SQL;
  let one: SharedStore;
  let two: SharedStore;

  beforeAll(async () => {
    processes = await openTwoProcesses();
    ({ one, two, sql } = processes);
  }, 60_000);
  beforeEach(() => processes.reset());
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Lets the leases of a process end, as if it had hung for a while. */
  async function endLeases(processId: string): Promise<void> {
    await sql`UPDATE job_chunks SET lease_until = 0 WHERE owner = ${processId}`;
    await sql`UPDATE jobs SET read_until = 0 WHERE reader = ${processId}`;
    await sql`UPDATE webhook_deliveries SET lease_until = 0 WHERE owner = ${processId}`;
  }

  /** Waits until a session waits for a row that another holds, for 1,000 looks at most. */
  async function untilWaiting(): Promise<void> {
    for (let look = 0; look < 1_000; look += 1) {
      const rows = await sql`SELECT 1 FROM pg_locks WHERE NOT granted`;
      if (rows.length > 0) return;
    }
  }

  const claimOf = ({ n, attempt }: { readonly n: number; readonly attempt: number }) => ({
    ...{ jobId: "job_1", n, attempt },
  });

  test("a job that is being cancelled ends only after a chunk that another process claims at that moment", async () => {
    const ended = { finishedAt: NOON, expiresAt: NOON + 1 };
    await startedJob(one, "job_1", 2);
    await one.changeJob("job_1", ["queued"], { status: "cancelling", statusReason: "by_caller" });
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    // The claim of a process that saw the job before it was cancelled, and has not committed.
    await using other = new SQL(processes.url, { max: 1 });
    const claiming = other.begin(async (claim) => {
      await claim`UPDATE job_chunks SET state = 'claimed', owner = 'two', attempt = 1, lease_until = 9999999999999
        WHERE job_id = 'job_1' AND n = 0`;
      locked();
      await isAsked;
    });
    await isLocked;
    const ending = Promise.resolve(one.endRound("job_1", ended));
    await untilWaiting();
    asked();
    await claiming;
    expect(await ending).toEqual({ changed: null, isWaiting: false });
    await two.releaseChunk({ jobId: "job_1", n: 0, attempt: 1 }, 0);
    expect((await one.endRound("job_1", ended)).changed?.status).toBe("cancelled");
  });

  test("a chunk whose lease has ended is done by another process, and the late result of the first is neither kept nor charged", async () => {
    await startedJob(one, "job_1", 1);
    const hung = await claimed(one, "job_1");
    expect(await two.reapChunks()).toBe(0);
    await endLeases("one");
    expect(await two.reapChunks()).toBe(1);
    const taken = await claimed(two, "job_1");
    expect(taken.attempt).toBe(2);
    const late = async () => finish(one, finishedChunk("job_1", hung));
    await expect(late()).rejects.toThrow();
    await one.releaseChunk(claimOf(hung), 0);
    expect([await unitsOf(one, "acc_a"), await two.resultBodies("job_1", 0)]).toEqual([0, []]);
    await finish(two, finishedChunk("job_1", taken));
    await expect(late()).rejects.toThrow();
    expect(await unitsOf(one, "acc_a")).toBe(10);
    expect(await one.findJob("job_1")).toMatchObject({ processed: 10, unitsCharged: 10 });
  });

  test("a lost claim is not taken for a later one of the same process and number", async () => {
    await startedJob(one, "job_1", 1);
    const hung = await claimed(one, "job_1");
    await endLeases("one");
    await two.reapChunks();
    const some = { rowsDone: 4, isWhole: false, processed: 4, units: 4, counts: { valid: 4 } };
    await finish(two, finishedChunk("job_1", await claimed(two, "job_1"), some));
    expect((await claimed(one, "job_1")).attempt).toBe(hung.attempt);
    const late = async () => finish(one, finishedChunk("job_1", hung));
    await expect(late()).rejects.toThrow();
    expect(await unitsOf(one, "acc_a")).toBe(4);
  });

  test("a lease is renewed only for held chunks, by the process that holds them", async () => {
    await startedJob(one, "job_1", 2);
    const [held, lost] = [await claimed(one, "job_1"), await claimed(one, "job_1")];
    await endLeases("one");
    await two.renewLeases([claimOf(held), claimOf(lost)], []);
    await one.renewLeases([claimOf(held)], []);
    expect(await two.reapChunks()).toBe(1);
    expect((await claimed(two, "job_1")).n).toBe(lost.n);
    await finish(one, finishedChunk("job_1", held));
  });

  test("leases of a process end at once where it is restarted, and without counting an attempt where it shut down", async () => {
    await startedJob(one, "job_1", 1);
    await claimed(one, "job_1");
    await two.releaseLeases("one");
    expect((await claimed(one, "job_1")).attempt).toBe(2);
    await one.releaseLeases(null);
    expect((await claimed(two, "job_1")).attempt).toBe(2);
  });

  test("what was migrated from one server while it held it is put back", async () => {
    await startedJob(one, "job_1", 1);
    await claimed(one, "job_1");
    await one.createWebhook(webhookRecord("wh_1"), 20, null);
    await one.addDelivery(webhookRecord("wh_1"), event(), () => null);
    await one.claimDelivery(NOON, []);
    await sql`UPDATE job_chunks SET owner = NULL, lease_until = NULL`;
    await sql`UPDATE webhook_deliveries SET owner = NULL, lease_until = NULL`;
    expect([await two.reapChunks(), await two.reapDeliveries()]).toEqual([1, 1]);
    expect((await claimed(two, "job_1")).attempt).toBe(2);
    expect((await two.claimDelivery(NOON, []))?.webhook.webhookId).toBe("wh_1");
  });

  test("an input is read by one process at a time; one that has lost it can neither add to it, erase it nor start its job", async () => {
    await one.createJob(jobRecord("job_1"), null, 9);
    expect([await one.claimInput("job_1"), await two.claimInput("job_1")]).toEqual([true, false]);
    expect(await two.cutOffJobs()).toEqual([]);
    await endLeases("one");
    expect(await two.cutOffJobs()).toEqual(["job_1"]);
    expect(await two.claimInput("job_1")).toBe(true);
    const chunk = { n: 0, firstRow: 0, rows: 1, form: "text", body: new Uint8Array(3) };
    const late = async () => one.addJobChunks("job_1", [chunk]);
    await expect(late()).rejects.toThrow("no longer read by this node");
    expect(await one.startJob("job_1", { status: "queued" }, null)).toBeNull();
    await two.addJobChunks("job_1", [chunk]);
    const erased = async () => one.clearInput("job_1", 9);
    await expect(erased()).rejects.toThrow("no longer read by this node");
    expect((await two.startJob("job_1", { status: "queued" }, null))?.status).toBe("queued");
  });

  test("a part exists once it is complete, replaces the former one, and stays until its input is read", async () => {
    const job = jobRecord("job_1");
    await one.createJob(job, null, 9);
    const write = async (store: SharedStore, partId: string, ...frames: readonly number[]) => {
      const part = { accountId: "acc_a", jobId: "job_1", n: 1, partId, bytes: frames.length };
      for (const [at, byte] of frames.entries()) await store.addPartFrame(part, at, new Uint8Array([byte]));
      return (options = job.options) => store.commitPart(part, options);
    };
    const first = await write(one, "p1", 1, 2);
    expect(await two.partsOf("job_1")).toEqual([]);
    expect([await first("other"), await two.partsOf("job_1")]).toEqual(["changed", []]);
    expect(await first()).toBe("committed");
    expect(await (await write(two, "p2", 7))()).toBe("committed");
    expect(await one.partsOf("job_1")).toEqual([{ n: 1, bytes: 1 }]);
    expect([...((await one.partFrame("job_1", 1, 0)) ?? [])]).toEqual([7]);
    expect(await one.partFrame("job_1", 1, 1)).toBeNull();
    expect(await one.partBytes("acc_a")).toEqual({ account: 1, all: 1 });
    await one.claimInput("job_1");
    expect(await (await write(two, "p3", 9))()).toBe("started");
    await two.removeAbandonedFrames(0);
    const [left] = await sql`SELECT count(*)::int AS frames FROM job_part_frames`;
    expect(left.frames).toBe(1);
    await one.removeParts("job_1");
    expect([await one.partsOf("job_1"), await one.partFrame("job_1", 1, 0)]).toEqual([[], null]);
  });

  test("a part that comes while a reader hangs takes the input from it; what is committed or deleted is left alone", async () => {
    const job = jobRecord("job_1");
    await one.createJob(job, null, 9);
    const write = async (partId: string) => {
      const part = { accountId: "acc_a", jobId: "job_1", n: 1, partId, bytes: 1 };
      await two.addPartFrame(part, 0, new Uint8Array([1]));
      return two.commitPart(part, job.options);
    };
    await one.claimInput("job_1");
    await endLeases("one");
    expect(await write("p1")).toBe("committed");
    expect(await one.startJob("job_1", { status: "queued" }, null)).toBeNull();
    // The commit was not answered, and its sender drops the part.
    await two.dropPart("p1");
    expect([...((await one.partFrame("job_1", 1, 0)) ?? [])]).toEqual([1]);
    await one.changeJob("job_1", ["receiving"], { deletedAt: NOON });
    expect(await write("p2")).toBe("started");
    await two.dropPart("p2");
    const [left] = await sql`SELECT count(*)::int AS frames FROM job_part_frames`;
    expect(left.frames).toBe(1);
  });

  test("of two sendings of one part to two nodes, the bytes that stay are those whose type is the job's", async () => {
    const job = jobRecord("job_1");
    await one.createJob({ ...job, status: "receiving" }, null, 9);
    const part = { accountId: "acc_a", jobId: "job_1", n: 1, jobBytesMax: 1_000_000 };
    const send = (store: SharedStore, type: string, meanwhile: () => Promise<void>) => {
      const parts = createSharedParts({ store, bytesMax: 1_000_000, newPartId: () => `part_${type}` });
      let checks = 0;
      return parts.write(part, bytesOf(type), async () => {
        await store.changeJob("job_1", ["receiving"], { options: `"${type}"` });
        checks += 1;
        if (checks === 1) await meanwhile();
        return `"${type}"`;
      });
    };
    await send(one, "csv", () => send(two, "text", async () => {}));
    const stored = await frameBytes((await one.partFrame("job_1", 1, 0)) ?? new Uint8Array());
    const { options } = (await one.findJob("job_1")) ?? {};
    expect([Buffer.from(stored).toString(), options]).toEqual(["csv", '"csv"']);
  });

  test("a delivery whose lease has ended is sent by another process, whose outcome counts", async () => {
    await one.createWebhook(webhookRecord("wh_1"), 20, null);
    await one.addDelivery(webhookRecord("wh_1"), event(), () => null);
    const hung = (await one.claimDelivery(NOON, []))?.delivery;
    expect(await two.claimDelivery(NOON, [])).toBeNull();
    expect(await two.reapDeliveries()).toBe(0);
    await endLeases("one");
    expect(await two.reapDeliveries()).toBe(1);
    const taken = (await two.claimDelivery(NOON, []))?.delivery;
    if (hung === undefined || taken === undefined) throw new Error("no delivery is due");
    expect(taken.deliveryId).toBe(hung.deliveryId);
    const outcome = { status: 200, error: null, latencyMs: 1, answer: null };
    const end = (state: "delivered" | "failed") => ({ state, nextAttemptAt: null, webhook: {} });
    await one.endAttempt(hung, NOON, { ...outcome, status: 500 }, end("failed"));
    await two.endAttempt(taken, NOON, outcome, end("delivered"));
    const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 9 };
    expect(await one.deliveryPage(page)).toMatchObject([{ state: "delivered", status: 200, attempts: 1 }]);
  });

  test("a node whose clock is days behind has no retry made before its time", async () => {
    await one.createWebhook(webhookRecord("wh_1"), 20, null);
    const now = Math.floor(systemClock.now());
    await one.addDelivery(webhookRecord("wh_1"), event("job.failed", now + DAY_MS), () => null);
    const behind = now - 9 * DAY_MS;
    expect(await two.recallDeliveries(behind, behind + DAY_MS, 9)).toBe(0);
    expect(await one.nextDueAt()).toBe(now + DAY_MS);
  });

  test("a delivery whose lease has ended is given up where its webhook was disabled meanwhile", async () => {
    await one.createWebhook(webhookRecord("wh_1"), 20, null);
    await one.addDelivery(webhookRecord("wh_1"), event(), () => null);
    await one.claimDelivery(NOON, []);
    await two.changeWebhook(
      "acc_a",
      "wh_1",
      () => ({ disabledReason: "by_caller" }),
      () => null,
    );
    await endLeases("one");
    expect(await two.reapDeliveries()).toBe(1);
    expect(await two.claimDelivery(NOON, [])).toBeNull();
    const page = { webhookId: "wh_1", afterDeliveryId: null, since: 0, limit: 9 };
    const given = { state: "failed", error: "webhook_disabled", nextAttemptAt: null };
    expect(await one.deliveryPage(page)).toMatchObject([given]);
  });

  test("each process that listens is counted once", async () => {
    expect(await one.countProcesses()).toBe(0);
    const stops: (() => void)[] = [];
    const listening = [one, two].map(
      (store) =>
        new Promise<void>((resolve) => {
          stops.push(store.listenForChanges({ onChange: () => {}, resumed: resolve }));
        }),
    );
    await Promise.all(listening);
    expect(await one.countProcesses()).toBe(2);
    for (const stop of stops) stop();
  });

  test("a job that one process announces is heard by all that listen", async () => {
    const heard: (AnnouncedJob | null)[] = [null, null];
    const stops = [one, two].map((store, place) =>
      store.listenForJobs((job) => {
        heard[place] = job;
      }),
    );
    const job = { accountId: "test:acc_a", jobId: "job_1" };
    // Until both listen, which they say to nobody.
    while (heard.includes(null)) await two.announceJob(job);
    expect(heard).toEqual([job, job]);
    for (const stop of stops) stop();
  });

  test("an upload past its time is left to the node that reads it, until its lease ends or it is deleted", async () => {
    const late = { createdAt: NOON - 1_000 };
    for (const jobId of ["job_read", "job_left", "job_deleted"]) {
      await one.createJob(jobRecord(jobId, late), null, 9);
      if (jobId !== "job_left") await one.claimInput(jobId);
    }
    await one.changeJob("job_deleted", ["receiving"], { deletedAt: NOON });
    const eraser = createJobEraser({
      store: two,
      clock: { now: () => NOON, monotonic: () => performance.now() },
      dropParts: async () => {},
      inReading: createInputsInReading(),
      settings: { uploadMs: 1_000 },
    });
    const left = async () => (await two.jobsIn(["receiving"])).map(({ jobId }) => jobId);
    await eraser.prune();
    expect(await left()).toEqual(["job_read"]);
    await endLeases("one");
    await eraser.prune();
    expect(await left()).toEqual([]);
  });
});
