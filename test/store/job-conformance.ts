import { describe, expect, test } from "bun:test";
import type { Clock } from "../../src/platform/clock.ts";
import { testTenantOf } from "../../src/platform/test-tenant.ts";
import { AccountErasedError } from "../../src/store/account-port.ts";
import { chargeSums } from "../../src/store/charge-sums.ts";
import type { ClaimedWork, FinishedChunk, JobRecord, NewJobChunk } from "../../src/store/job-records.ts";
import type { JobPlace } from "../../src/store/operator-port.ts";
import type { Store } from "../../src/store/port.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { clock, NOON, replyRecord, signUp, unitsOf } from "./store-conformance.ts";

export function jobRecord(jobId: string, more: Partial<JobRecord> = {}): JobRecord {
  return {
    ...{ jobId, accountId: "acc_a", kind: "email", name: null, status: "receiving", statusReason: null },
    ...{ createdAt: NOON, startedAt: null, finishedAt: null, expiresAt: null, erasedAt: null },
    ...{ deletedAt: null, options: "{}", inputTable: null, chunkCount: 0, rows: 0, distinctRows: 0 },
    ...{ unitsPerItem: 1, processed: 0, counts: "{}", unitsCharged: 0, round: 1, isTest: false },
    webhookUrl: null,
    ...more,
  };
}

/** Bytes that no text is. */
const bodyOf = (n: number) => new Uint8Array([0, 255, 128, 10, 0, n]);

const chunkOf = (n: number): NewJobChunk => ({
  ...{ n, firstRow: n * 10, rows: 10, form: "text" },
  body: bodyOf(n),
});

/** A job with chunks of ten rows that wait. */
export async function startedJob(
  store: Store,
  jobId: string,
  chunks: number,
  accountId = "acc_a",
): Promise<JobRecord> {
  await store.createJob(jobRecord(jobId, { accountId }), null, 100);
  await store.claimInput(jobId);
  await store.addJobChunks(
    jobId,
    Array.from({ length: chunks }, (_, n) => chunkOf(n)),
  );
  const started = { status: "queued", chunkCount: chunks, rows: chunks * 10 } as const;
  const job = await store.startJob(jobId, started, null);
  if (job === null) throw new Error("the job was not started");
  return job;
}

export async function claimed(store: Store, jobId: string): Promise<ClaimedWork["chunk"]> {
  const work = await store.claimChunk(jobId);
  if (work === null) throw new Error("no chunk waits");
  return work.chunk;
}

export function finishedChunk(
  jobId: string,
  { n, attempt }: Pick<ClaimedWork["chunk"], "n" | "attempt">,
  more: Partial<FinishedChunk> = {},
): FinishedChunk {
  return {
    ...{ jobId, n, attempt, rowsDone: 10, isWhole: true, attemptsAfter: 0, body: bodyOf(100 + n) },
    ...{ lineBytes: 50, units: 10, unchecked: 0, replaces: false, processed: 10 },
    counts: { deliverable: 9, unknown: 1 },
    ...more,
  };
}

/** Writes chunks with the units that they cost. */
export async function finish(store: Store, ...chunks: readonly FinishedChunk[]): Promise<void> {
  const month = await store.readMonth("acc_a");
  const planPeriodId = month?.planPeriods.at(-1)?.planPeriodId ?? 0;
  const entries = chunks.map(({ units }) => ({
    ...{ accountId: "acc_a", planPeriodId, at: NOON, endpoint: "/v1/jobs", units, calls: 0 },
  }));
  const sums = chargeSums(entries);
  await store.record({ sums, replies: [], chunks, quotaMarks: [], keptAt: null }, "at_once");
}

const ENDED = { finishedAt: NOON + 1, expiresAt: NOON + 2 };

/** What every store does with jobs. */
export function describeJobs(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  async function opened(): Promise<Store> {
    const store = await open(clock);
    await signUp(store, "acc_a");
    return store;
  }

  describe(`${name}: jobs`, () => {
    test("a job is stored as it is, with its reply; one above the maximum leaves no trace", async () => {
      const store = await opened();
      const job = jobRecord("job_1", { name: "Liste ä🦊", isTest: false, webhookUrl: "https://x.example/" });
      expect(await store.createJob(job, replyRecord("r"), 1)).toBe(true);
      expect(await store.findJob("job_1")).toEqual(job);
      expect((await store.findReply("acc_a", "r"))?.body).toBe("x");
      expect(await store.createJob(jobRecord("job_2"), replyRecord("s"), 1)).toBe(false);
      expect([await store.findJob("job_2"), await store.findReply("acc_a", "s")]).toEqual([null, null]);
      expect(await store.countJobs("acc_a", ["receiving"])).toBe(1);
      expect(await store.unfinishedJobs()).toEqual([{ status: "receiving", statusReason: null, jobs: 1 }]);
    });

    test("what an earlier reading of an input left is erased until the job is started, and never after", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1"), null, 1);
      await store.claimInput("job_1");
      await store.addJobChunks("job_1", [chunkOf(0), chunkOf(1)]);
      const cleared = [await store.clearInput("job_1", 1), await store.clearInput("job_1", 9)];
      expect([...cleared, await store.clearInput("job_1", 9)]).toEqual([true, true, false]);
      await store.addJobChunks("job_1", [chunkOf(0)]);
      await store.startJob("job_1", { status: "queued", chunkCount: 1 }, null);
      const late = async () => store.clearInput("job_1", 9);
      await expect(late()).rejects.toThrow(StorageError);
      expect(await store.inputBody("job_1", 0)).not.toBeNull();
    });

    test("a job that is deleted while it is received takes no rows and is not started", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1"), null, 1);
      await store.claimInput("job_1");
      await store.addJobChunks("job_1", [chunkOf(0)]);
      expect(await store.changeJob("job_1", ["receiving"], { deletedAt: NOON })).not.toBeNull();
      const added = async () => store.addJobChunks("job_1", [chunkOf(1)]);
      await expect(added()).rejects.toThrow(StorageError);
      const started = { status: "queued", chunkCount: 2 } as const;
      expect(await store.startJob("job_1", started, replyRecord("r"))).toBeNull();
      expect(await store.findReply("acc_a", "r")).toBeNull();
      expect((await store.chunkResults("job_1", 0, 10)).map(({ n }) => n)).toEqual([0]);
      await store.forgetJob("job_1");
      await expect(added()).rejects.toThrow(StorageError);
    });

    test("of jobs that are created at once no more than the maximum are", async () => {
      const store = await opened();
      const created = await Promise.all(
        Array.from({ length: 12 }, async (_, at) => store.createJob(jobRecord(`job_${at}`), null, 3)),
      );
      expect(created.filter(Boolean)).toHaveLength(3);
    });

    test("a name takes any character that a caller sends", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1", { name: "a\0b\ud800" }), null, 9);
      expect((await store.findJob("job_1"))?.name).toHaveLength(4);
    });

    test("jobs of test keys are separate from those of the account", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1"), null, 9);
      await store.createJob(jobRecord("job_2", { accountId: "test:acc_a", isTest: true }), null, 1);
      expect((await store.findJob("job_2"))?.accountId).toBe("test:acc_a");
      const page = { status: null, afterJobId: null, limit: 9 };
      const ids = async (accountId: string) =>
        (await store.jobPage({ ...page, accountId }))?.map(({ jobId }) => jobId);
      expect([await ids("acc_a"), await ids("test:acc_a")]).toEqual([["job_1"], ["job_2"]]);
    });

    test("pages go from the newest on, by state, and refuse a cursor of another account", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      for (const at of [1, 2, 3, 3]) {
        await store.createJob(jobRecord(`job_${Math.random()}`, { createdAt: at, rows: at }), null, 99);
      }
      await store.createJob(jobRecord("job_b", { accountId: "acc_b" }), null, 99);
      const page = { accountId: "acc_a", status: null, limit: 2 };
      const first = (await store.jobPage({ ...page, afterJobId: null })) ?? [];
      const second = (await store.jobPage({ ...page, afterJobId: first.at(-1)?.jobId ?? "" })) ?? [];
      expect([...first, ...second].map(({ rows }) => rows)).toEqual([3, 3, 2, 1]);
      expect(await store.jobPage({ ...page, afterJobId: "job_b" })).toBeNull();
      expect(await store.jobPage({ ...page, status: "paused", afterJobId: null })).toEqual([]);
      const walked: number[] = [];
      const single = { ...page, status: "receiving", limit: 1 } as const;
      let jobs = await store.jobPage({ ...single, afterJobId: null });
      for (let job = jobs?.[0]; job !== undefined; job = jobs?.[0]) {
        walked.push(job.rows);
        jobs = await store.jobPage({ ...single, afterJobId: job.jobId });
      }
      expect(walked).toEqual([3, 3, 2, 1]);
    });

    test("a job changes only from the named states, and only from the named options", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1", { options: "1" }), null, 9);
      expect(await store.changeJob("job_1", ["paused"], { status: "failed" })).toBeNull();
      expect(await store.changeJob("job_1", ["receiving"], { options: "2" }, "0")).toBeNull();
      const changed = await store.changeJob("job_1", ["receiving"], { options: "2" }, "1");
      expect(changed?.options).toBe("2");
      expect(await store.changeJob("job_none", ["receiving"], { status: "failed" })).toBeNull();
    });

    test("an input is as it was stored once its job starts, which it does once", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1"), null, 9);
      expect(await store.claimInput("job_1")).toBe(true);
      await store.addJobChunks("job_1", [chunkOf(0), chunkOf(1)]);
      await store.addJobChunks("job_1", [chunkOf(2)]);
      await store.markDuplicates("job_1", 1, [new Uint8Array([0, 3]), null]);
      expect(await store.claimChunk("job_1")).toBeNull();
      const started = await store.startJob("job_1", { status: "queued", rows: 30 }, replyRecord("r"));
      expect(started).toMatchObject({ status: "queued", rows: 30 });
      expect(await store.startJob("job_1", { status: "queued" }, null)).toBeNull();
      expect(await store.claimInput("job_none")).toBeOneOf([true, false]);
      expect((await store.findReply("acc_a", "r"))?.status).toBe(200);
      for (const n of [0, 1, 2]) {
        const work = await store.claimChunk("job_1");
        expect(work?.job).toMatchObject({ jobId: "job_1", rows: 30 });
        const { body, duplicates, ...chunk } = work?.chunk ?? { body: null, duplicates: null };
        expect(chunk).toEqual({ n, firstRow: n * 10, rows: 10, form: "text", rowsDone: 0, attempt: 1 });
        expect([...(body ?? [])]).toEqual([...bodyOf(n)]);
        expect(duplicates === null ? null : [...duplicates]).toEqual(n === 1 ? [0, 3] : null);
        expect([...((await store.inputBody("job_1", n)) ?? [])]).toEqual([...bodyOf(n)]);
      }
      expect(await store.claimChunk("job_1")).toBeNull();
      expect(await store.inputBody("job_1", 3)).toBeNull();
    });

    test("chunks that are claimed at once are claimed once each", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 20);
      const claims = await Promise.all(Array.from({ length: 25 }, async () => store.claimChunk("job_1")));
      const numbers = claims.flatMap((work) => work?.chunk.n ?? []).sort((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => n));
    });

    test("nothing is claimed of a job that must not continue", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 1);
      await store.changeJob("job_1", ["queued"], { status: "paused", statusReason: "by_caller" });
      expect(await store.claimChunk("job_1")).toBeNull();
      await store.changeJob("job_1", ["paused"], { status: "running", statusReason: null });
      expect((await claimed(store, "job_1")).n).toBe(0);
    });

    test("of a paused job only chunks before finished ones are claimed", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 4);
      const [first, second, third] = [
        await claimed(store, "job_1"),
        await claimed(store, "job_1"),
        await claimed(store, "job_1"),
      ];
      for (const { n, attempt } of [first, second])
        await store.releaseChunk({ jobId: "job_1", n, attempt }, 0);
      expect(await store.claimGap("job_1")).toBeNull();
      await store.changeJob("job_1", ["queued"], { status: "paused", statusReason: "storage" });
      expect(await store.claimGap("job_1")).toBeNull();
      await finish(store, finishedChunk("job_1", third, { rowsDone: 4, isWhole: false, processed: 4 }));
      const gap = await store.claimGap("job_1");
      expect([gap?.chunk.n, gap?.chunk.attempt, gap?.job.status]).toEqual([0, 1, "paused"]);
      expect([...(gap?.chunk.body ?? [])]).toEqual([...bodyOf(0)]);
      expect((await store.claimGap("job_1"))?.chunk.n).toBe(1);
      expect([await store.claimGap("job_1"), await store.claimGap("job_none")]).toEqual([null, null]);
    });

    test("of a job that is paused in its second round nothing is claimed: all chunks have results", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 3);
      for (let chunk = 0; chunk < 3; chunk += 1) {
        const work = await claimed(store, "job_1");
        await finish(store, finishedChunk("job_1", work, { unchecked: 2, processed: 8 }));
      }
      const ended = { finishedAt: 9, expiresAt: 10 };
      expect((await store.endRound("job_1", ended)).isWaiting).toBe(true);
      await store.changeJob("job_1", ["queued"], { status: "paused", statusReason: "by_caller" });
      expect(await store.claimGap("job_1")).toBeNull();
    });

    test("the search for a gap in a paused job of 16 times as many chunks takes at most 32 times as long", async () => {
      const store = await opened();
      const searchMs = async (jobId: string, chunks: number) => {
        await startedJob(store, jobId, chunks);
        await store.changeJob(jobId, ["queued"], { status: "paused", statusReason: "by_caller" });
        let bestMs = Number.POSITIVE_INFINITY;
        for (let look = 0; look < 5; look += 1) {
          const begunMs = performance.now();
          expect(await store.claimGap(jobId)).toBeNull();
          bestMs = Math.min(bestMs, performance.now() - begunMs);
        }
        return bestMs;
      };
      const smallMs = await searchMs("job_small", 200);
      expect(await searchMs("job_large", 3_200)).toBeLessThan(smallMs * 32);
    });

    test("a chunk that is put back has the given number of attempts, once", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 1);
      const attempts: number[] = [];
      for (const counted of [1, 9, 8, 9]) {
        const { n, attempt } = await claimed(store, "job_1");
        attempts.push(attempt);
        await store.releaseChunk({ jobId: "job_1", n, attempt }, counted);
        // Once is enough.
        await store.releaseChunk({ jobId: "job_1", n, attempt }, counted);
      }
      expect(attempts).toEqual([1, 2, 10, 9]);
    });

    test("a chunk, its units and the job's progress are written together, once", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 2);
      const first = finishedChunk("job_1", await claimed(store, "job_1"));
      const second = finishedChunk("job_1", await claimed(store, "job_1"), {
        units: 7,
        counts: { invalid: 10 },
      });
      await finish(store, second, first);
      for (const again of [first, { ...second, attempt: 2 }]) {
        const refused = async () => finish(store, again);
        await expect(refused()).rejects.toThrow();
      }
      const job = await store.findJob("job_1");
      expect(job).toMatchObject({ processed: 20, unitsCharged: 17 });
      expect(JSON.parse(job?.counts ?? "")).toEqual({ deliverable: 9, unknown: 1, invalid: 10 });
      expect(await unitsOf(store, "acc_a")).toBe(17);
      expect(await store.chunkResults("job_1", 0, 9)).toEqual(
        [0, 1].map((n) => ({ n, firstRow: n * 10, rows: 10, rowsDone: 10, form: "text", lineBytes: 50 })),
      );
      expect((await store.chunkResults("job_1", 1, 9)).map(({ n }) => n)).toEqual([1]);
      expect((await store.resultBodies("job_1", 1)).map((body) => [...body])).toEqual([[...bodyOf(101)]]);
    });

    test("progress that is written at once adds up", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 16);
      const all = await Promise.all(Array.from({ length: 16 }, async () => claimed(store, "job_1")));
      await Promise.all(all.map(async (chunk) => finish(store, finishedChunk("job_1", chunk))));
      const job = await store.findJob("job_1");
      expect(job).toMatchObject({ processed: 160, unitsCharged: 160 });
      expect(JSON.parse(job?.counts ?? "")).toEqual({ deliverable: 144, unknown: 16 });
      expect(await unitsOf(store, "acc_a")).toBe(160);
    });

    test("a chunk that is done in parts continues where it stopped, and its parts stay in order", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 1);
      const some = {
        rowsDone: 4,
        isWhole: false,
        attemptsAfter: 6,
        processed: 4,
        units: 4,
        counts: { valid: 4 },
      };
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1"), some));
      const rest = await claimed(store, "job_1");
      expect(rest).toMatchObject({ n: 0, rowsDone: 4, attempt: 7 });
      const left = { processed: 6, units: 6, counts: { valid: 6 }, body: bodyOf(9) };
      await finish(store, finishedChunk("job_1", rest, left));
      const bodies = await store.resultBodies("job_1", 0);
      expect(bodies.map((body) => body.at(-1))).toEqual([100, 9]);
      expect(await store.chunkResults("job_1", 0, 9)).toMatchObject([{ rowsDone: 10, lineBytes: 100 }]);
      expect(await store.findJob("job_1")).toMatchObject({ processed: 10, unitsCharged: 10 });
    });

    test("a round ends when all chunks are done; unchecked ones are put back once", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 2);
      const first = await claimed(store, "job_1");
      await finish(store, finishedChunk("job_1", first, { unchecked: 2, processed: 8 }));
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: true });
      const second = await claimed(store, "job_1");
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: false });
      await finish(store, finishedChunk("job_1", second));
      const again = await store.endRound("job_1", ENDED);
      expect([again.changed?.round, again.changed?.status, again.isWaiting]).toEqual([2, "queued", true]);
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: true });
      const third = await claimed(store, "job_1");
      expect(third.n).toBe(0);
      const mended = { replaces: true, processed: 2, units: 2, counts: { deliverable: 2 }, lineBytes: 60 };
      await finish(store, finishedChunk("job_1", third, { ...mended, body: bodyOf(7) }));
      expect((await store.resultBodies("job_1", 0)).map((body) => body.at(-1))).toEqual([7]);
      const { changed } = await store.endRound("job_1", ENDED);
      expect(changed).toMatchObject({ ...ENDED, status: "completed", processed: 20 });
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: false });
    });

    test("rows whose look-up failed are counted as unknown where they are not looked up again", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 1);
      const unchecked = { unchecked: 3, processed: 7, counts: { deliverable: 7 } };
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1"), unchecked));
      await store.endRound("job_1", ENDED);
      const { n, attempt } = await claimed(store, "job_1");
      await store.keepUnchecked({ jobId: "job_1", n, attempt });
      const twice = async () => store.keepUnchecked({ jobId: "job_1", n, attempt });
      await expect(twice()).rejects.toThrow();
      const { changed } = await store.endRound("job_1", ENDED);
      expect(changed).toMatchObject({ status: "completed", processed: 10 });
      expect(JSON.parse(changed?.counts ?? "")).toEqual({ deliverable: 7, unknown: 3 });
    });

    const numbersOf = (job: JobRecord | null) => ({
      processed: job?.processed,
      ...JSON.parse(job?.counts ?? "{}"),
    });

    /** A job whose second round has begun: of three chunks two have rows whose look-up failed, 2 and 3. */
    async function inSecondRound(store: Store, jobId: string): Promise<void> {
      await startedJob(store, jobId, 3);
      for (const unchecked of [2, 0, 3]) {
        const numbers = { unchecked, processed: 10 - unchecked, counts: { deliverable: 10 - unchecked } };
        await finish(store, finishedChunk(jobId, await claimed(store, jobId), numbers));
      }
      const { changed, isWaiting } = await store.endRound(jobId, ENDED);
      expect([changed?.round, isWaiting, changed?.processed]).toEqual([2, true, 25]);
    }

    test("the rows whose look-up failed count as unknown, once, in a job that is cancelled before the second", async () => {
      const store = await opened();
      await inSecondRound(store, "job_1");
      await store.changeJob("job_1", ["queued"], { status: "cancelling", statusReason: "by_caller" });
      const { changed } = await store.endRound("job_1", ENDED);
      const numbers = { processed: 30, deliverable: 25, unknown: 5 };
      expect([changed?.status, numbersOf(changed)]).toEqual(["cancelled", numbers]);
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: false });
      expect(numbersOf(await store.findJob("job_1"))).toEqual(numbers);
    });

    test("a chunk that is finished while its job is cancelled in the first round adds its unchecked rows to the unknown", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 3);
      const [first, second] = [await claimed(store, "job_1"), await claimed(store, "job_1")];
      const numbers = { unchecked: 2, processed: 8, counts: { deliverable: 8 } };
      await finish(store, finishedChunk("job_1", first, numbers));
      await store.changeJob("job_1", ["queued"], { status: "cancelling", statusReason: "by_caller" });
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: false });
      const some = {
        ...numbers,
        rowsDone: 6,
        isWhole: false,
        unchecked: 5,
        processed: 1,
        counts: { valid: 1 },
      };
      await finish(store, finishedChunk("job_1", second, some));
      const { changed } = await store.endRound("job_1", ENDED);
      expect(numbersOf(changed)).toEqual({ processed: 16, deliverable: 8, valid: 1, unknown: 7 });
    });

    test("a chunk of the second round that is finished while its job is cancelled counts as it was looked up", async () => {
      const store = await opened();
      await inSecondRound(store, "job_1");
      const again = await claimed(store, "job_1");
      await store.changeJob("job_1", ["queued"], { status: "cancelling", statusReason: "by_caller" });
      expect((await store.endRound("job_1", ENDED)).changed).toBeNull();
      const mended = { replaces: true, processed: 2, units: 2, counts: { deliverable: 2 } };
      await finish(store, finishedChunk("job_1", again, mended));
      const { changed } = await store.endRound("job_1", ENDED);
      expect(numbersOf(changed)).toEqual({ processed: 30, deliverable: 27, unknown: 3 });
    });

    test("the rows whose look-up failed count as unknown in a job that fails, those of chunks in work once they are done", async () => {
      const store = await opened();
      await inSecondRound(store, "job_1");
      const [again, left] = [await claimed(store, "job_1"), await claimed(store, "job_1")];
      const failed = { ...ENDED, status: "failed", statusReason: "x" } as const;
      await startedJob(store, "job_2", 3);
      const [done, late] = [await claimed(store, "job_2"), await claimed(store, "job_2")];
      const numbers = { unchecked: 2, processed: 8, counts: { deliverable: 8 } };
      await finish(store, finishedChunk("job_2", done, numbers));
      expect(numbersOf(await store.changeJob("job_1", ["queued"], failed))).toEqual({
        ...{ processed: 25, deliverable: 25 },
      });
      const after = await store.changeJob("job_2", ["queued"], failed);
      expect(numbersOf(after)).toEqual({ processed: 10, deliverable: 8, unknown: 2 });
      const mended = { replaces: true, processed: 2, units: 2, counts: { deliverable: 2 } };
      await finish(store, finishedChunk("job_1", again, mended), finishedChunk("job_2", late, numbers));
      await store.releaseChunk({ jobId: "job_1", n: left.n, attempt: left.attempt }, 0);
      for (const jobId of ["job_1", "job_2", "job_1", "job_2"]) {
        expect(await store.endRound(jobId, ENDED)).toEqual({ changed: null, isWaiting: false });
      }
      expect(numbersOf(await store.findJob("job_1"))).toEqual({ processed: 30, deliverable: 27, unknown: 3 });
      expect(numbersOf(await store.findJob("job_2"))).toEqual({ processed: 20, deliverable: 16, unknown: 4 });
    });

    test("a job is cancelled when none of its chunks is claimed, and erased at once where it was deleted", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 2);
      const chunk = await claimed(store, "job_1");
      await store.changeJob("job_1", ["queued"], { status: "cancelling", deletedAt: 5 });
      expect(await store.endRound("job_1", ENDED)).toEqual({ changed: null, isWaiting: false });
      await finish(store, finishedChunk("job_1", chunk));
      const { changed } = await store.endRound("job_1", ENDED);
      expect(changed).toMatchObject({
        status: "cancelled",
        processed: 10,
        expiresAt: 5,
        finishedAt: NOON + 1,
      });
      expect((await store.jobsToErase(5, 9)).map(({ jobId }) => jobId)).toEqual(["job_1"]);
      expect(await store.jobsToErase(4, 9)).toEqual([]);
    });

    test("the jobs of an account that is erased are deleted, and what was said about them", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      const said = { name: "customers of Ann", webhookUrl: "https://example.com/ann" };
      for (const status of ["receiving", "queued", "running", "paused", "completed"] as const) {
        await store.createJob(jobRecord(status, said), null, 100);
        if (status !== "receiving") await store.changeJob(status, ["receiving"], { status });
      }
      const deleted = { status: "completed", deletedAt: NOON + 1, expiresAt: NOON + 1 } as const;
      await store.createJob(jobRecord("deleted", { ...said, ...deleted }), null, 100);
      await store.createJob(
        jobRecord("test", { ...said, accountId: testTenantOf("acc_a"), isTest: true }),
        null,
        100,
      );
      await store.createJob(jobRecord("other", { ...said, accountId: "acc_b" }), null, 100);
      const act = { at: NOON, operator: "root", action: "erase", accountId: "acc_a", details: "{}" } as const;
      await store.eraseAccount("acc_a", NOON + 5, act);
      const left = { name: null, webhookUrl: null, deletedAt: NOON + 5, expiresAt: NOON + 5 };
      for (const jobId of ["receiving", "queued", "running", "paused", "test"]) {
        const job = await store.findJob(jobId);
        expect(job).toMatchObject({ jobId, ...left });
        const isLive = ["queued", "running", "paused"].includes(jobId);
        if (isLive) expect(job?.status).toBe("cancelling");
      }
      expect(await store.accountsToClear()).toEqual(["acc_a"]);
      let last: JobPlace | null = null;
      let steps = 0;
      do {
        last = await store.clearErasedJobs("acc_a", last, 2);
        steps += 1;
      } while (last !== null);
      expect([steps, await store.accountsToClear()]).toEqual([5, []]);
      expect(await store.findJob("completed")).toMatchObject({ status: "completed", ...left });
      expect(await store.findJob("deleted")).toMatchObject({ ...deleted, name: null, webhookUrl: null });
      expect(await store.findJob("other")).toMatchObject({ ...said, deletedAt: null });
    });

    test("an account that is erased takes no job, for its test keys neither", async () => {
      const store = await opened();
      const act = { at: NOON, operator: "root", action: "erase", accountId: "acc_a", details: "{}" } as const;
      await store.eraseAccount("acc_a", NOON, act);
      for (const create of [
        async () => store.createJob(jobRecord("job_1"), null, 9),
        async () =>
          store.createJob(jobRecord("job_1", { accountId: testTenantOf("acc_a"), isTest: true }), null, 9),
      ]) {
        await expect(create()).rejects.toBeInstanceOf(AccountErasedError);
      }
      expect(await store.findJob("job_1")).toBeNull();
    });

    test("the jobs of an account that is not erased are not cleared", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1", { name: "customers of Ann", status: "completed" }), null, 100);
      expect([await store.accountsToClear(), await store.clearErasedJobs("acc_a", null, 9)]).toEqual([
        [],
        null,
      ]);
      expect(await store.findJob("job_1")).toMatchObject({ name: "customers of Ann", deletedAt: null });
    });

    test("erasing takes chunks some at a time, and leaves the job and its counts", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 3);
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1")));
      expect([await store.eraseChunks("job_1", 2), await store.eraseChunks("job_1", 2)]).toEqual([
        true,
        true,
      ]);
      expect(await store.eraseChunks("job_1", 2)).toBe(false);
      expect([await store.inputBody("job_1", 0), await store.resultBodies("job_1", 0)]).toEqual([null, []]);
      expect(await store.findJob("job_1")).toMatchObject({ processed: 10 });
      await store.forgetJob("job_1");
      expect(await store.findJob("job_1")).toBeNull();
    });

    test("erasing takes a megabyte of inputs and results at a time, or one chunk that is larger", async () => {
      const store = await opened();
      await store.createJob(jobRecord("job_1"), null, 100);
      await store.claimInput("job_1");
      const sizes = [300_000, 600_000, 600_000, 3_000_000];
      const added = sizes.map((bytes, n) => ({ ...chunkOf(n), body: new Uint8Array(bytes) }));
      await store.addJobChunks("job_1", added);
      await store.startJob("job_1", { status: "queued", chunkCount: sizes.length }, null);
      const body = new Uint8Array(600_000);
      await finish(store, { ...finishedChunk("job_1", await claimed(store, "job_1")), body });
      const left = async () => {
        const bodies = await Promise.all(sizes.map(async (_, n) => store.inputBody("job_1", n)));
        return bodies.filter((each) => each !== null).length;
      };
      const steps: number[] = [];
      while (await store.eraseChunks("job_1", 9)) steps.push(await left());
      expect(steps).toEqual([3, 2, 1, 0]);
      const small = [400_000, 400_000, 400_000].map((bytes, n) => ({
        ...chunkOf(n),
        body: new Uint8Array(bytes),
      }));
      await store.createJob(jobRecord("job_2"), null, 100);
      await store.claimInput("job_2");
      await store.addJobChunks("job_2", small);
      const cleared = [await store.clearInput("job_2", 9), await store.inputBody("job_2", 2)];
      expect(cleared).toEqual([true, small[2]?.body ?? null]);
      expect(await store.inputBody("job_2", 1)).toBeNull();
    });
  });
}
