import { expect, test } from "bun:test";
import { type ChunkOutcome, HopelessChunkError } from "../../src/jobs/chunks/chunk-outcome.ts";
import { type DiskRoom, ROOM_ELSEWHERE } from "../../src/jobs/disk-room.ts";
import { createJobQueue } from "../../src/jobs/job-queue.ts";
import { createJobRunner, type JobRunnerDependencies } from "../../src/jobs/job-runner.ts";
import { createPace } from "../../src/jobs/pace.ts";
import { gapReader } from "../../src/jobs/shared-gap.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { claimed, finish, finishedChunk, startedJob } from "../store/job-conformance.ts";
import { clock, signUp } from "../store/store-conformance.ts";
import { until } from "../support/caller.ts";

const CHUNKS_MAX = 3;
const COMMITTED_MAX = 2;
const SPARE_CHUNKS_MAX = 2;
const FULL_DISK: DiskRoom = { isLeft: async () => true, isBack: async () => false };

function runnerOn(
  runChunk: JobRunnerDependencies["runChunk"],
  {
    room = ROOM_ELSEWHERE,
    meter = { enter: () => undefined, unitsLeft: () => 1_000, mayCover: () => true },
    watchMs = 60_000,
    waitMs = 0,
    runnerClock = clock,
    changed = () => {},
    pace = null,
  }: {
    readonly room?: DiskRoom;
    readonly meter?: JobRunnerDependencies["meter"];
    readonly watchMs?: number;
    readonly waitMs?: number;
    readonly runnerClock?: Clock;
    readonly changed?: JobRunnerDependencies["changed"];
    readonly pace?: JobRunnerDependencies["pace"];
  } = {},
) {
  const store = openStore({ path: ":memory:", clock });
  const announced: string[] = [];
  const runner = createJobRunner({
    store,
    queue: createJobQueue(),
    clock: runnerClock,
    runChunk,
    threadsReady: async () => {},
    meter,
    pace,
    announce: ({ jobId }) => void announced.push(jobId),
    room,
    changed,
    seen: () => {},
    reportBug: (error) => {
      throw error;
    },
    secondLookUp: { waitMs, failuresExpireMs: () => 0 },
    settings: {
      chunksMax: CHUNKS_MAX,
      committedMax: COMMITTED_MAX,
      spareChunksMax: SPARE_CHUNKS_MAX,
      startDelayMs: 0,
      retentionMs: 1_000,
      watchMs,
      pausesForStorage: true,
    },
  });
  return { store, runner, announced };
}

test("jobs whose chunks never end leave places to accounts without a running chunk", async () => {
  const running: string[] = [];
  const { promise: never } = Promise.withResolvers<ChunkOutcome>();
  const { store, runner } = runnerOn(({ accountId }) => {
    running.push(accountId);
    return never;
  });
  await using _ = runner;
  const run = async (accountId: string) => {
    await signUp(store, accountId);
    runner.run(await startedJob(store, `job_${accountId}`, 10, accountId));
  };
  await run("acc_long");
  await until("chunks in work", () => running.length === CHUNKS_MAX);
  await run("acc_short");
  await run("acc_other");
  await until("a place for each account", () => running.length === CHUNKS_MAX + 2);
  await run("acc_late");
  await Bun.sleep(0);
  expect(running).toEqual([...Array(CHUNKS_MAX).fill("acc_long"), "acc_short", "acc_other"]);
  store.close();
});

test("a job with more chunks than there are places is announced, and one that has them all is not", async () => {
  const { promise: never } = Promise.withResolvers<ChunkOutcome>();
  const { store, runner, announced } = runnerOn(() => never);
  await using _ = runner;
  await signUp(store, "acc_a");
  await signUp(store, "acc_b");
  runner.run(await startedJob(store, "job_short", 1, "acc_a"));
  await until("its chunk in work", () => runner.chunksInWork() === 1 && runner.queued() === 0);
  runner.run(await startedJob(store, "job_long", 10, "acc_b"));
  await until("the announcement", () => announced.length > 0);
  expect(announced).toEqual(["job_long"]);
  store.close();
});

test("a deleted job waits for its chunk in work, and meanwhile no thread rests", async () => {
  const pace = createPace({ clock });
  const isHurried = () => gapReader(pace.gap)().isHurried;
  const work = Promise.withResolvers<ChunkOutcome>();
  const { store, runner } = runnerOn(() => work.promise, { pace });
  await using _ = runner;
  await signUp(store, "acc_a");
  const job = await startedJob(store, "job_a", 1, "acc_a");
  runner.run(job);
  await until("its chunk in work", () => runner.chunksInWork() === 1);
  expect(isHurried()).toBe(false);
  const givenUp = runner.giveUp(job);
  expect(isHurried()).toBe(true);
  work.resolve("finished");
  await givenUp;
  expect(isHurried()).toBe(false);
  store.close();
});

test("an announced job is worked on once the process has started, and is not announced again", async () => {
  const begun: string[] = [];
  const { promise: never } = Promise.withResolvers<ChunkOutcome>();
  const { store, runner, announced } = runnerOn(({ jobId }) => {
    begun.push(jobId);
    return never;
  });
  await using _ = runner;
  await signUp(store, "acc_a");
  const early = await startedJob(store, "job_1", 10);
  runner.join(early);
  await Bun.sleep(0);
  expect(begun).toEqual([]);
  await runner.start();
  await until("chunks in work", () => begun.length === CHUNKS_MAX);
  await signUp(store, "acc_b");
  runner.join(await startedJob(store, "job_2", 10, "acc_b"));
  await until("a chunk of the announced one", () => begun.includes("job_2"));
  // What is gone or paused has no chunk to claim.
  runner.join({ accountId: "acc_c", jobId: "job_of_nobody" });
  await until("its end in the queue", () => runner.queued() === 2);
  expect(announced).toEqual([]);
  store.close();
});

test("the next chunk begins once one is committed, and only a few wait for the disk", async () => {
  const begun: (() => void)[] = [];
  const { promise: never } = Promise.withResolvers<ChunkOutcome>();
  const { store, runner } = runnerOn((_, __, ___, onCommit) => {
    begun.push(onCommit);
    return never;
  });
  await using _ = runner;
  await signUp(store, "acc_a");
  runner.run(await startedJob(store, "job_1", 10));
  await until("chunks in work", () => begun.length === CHUNKS_MAX);
  begun[0]?.();
  await until("the next", () => begun.length === CHUNKS_MAX + 1);
  // Announced twice it is still one.
  for (const onCommit of [...begun.slice(0, 3)]) onCommit();
  await until("chunks on their way", () => runner.chunksInWork() === CHUNKS_MAX + 1);
  await Bun.sleep(0);
  expect(begun).toHaveLength(CHUNKS_MAX + 1);
  store.close();
});

test("a gap that a full disk left before finished rows is filled while the job is paused, and no more is done", async () => {
  let isFull = true;
  const begun: number[] = [];
  const { store, runner } = runnerOn(
    async ({ jobId }, chunk) => {
      begun.push(chunk.n);
      // The first chunk finds no room until the others are written.
      if (chunk.n === 0 && isFull) {
        await until("the others", () => store.findJob(jobId)?.processed === 20);
        throw new StorageError("full for the test");
      }
      await finish(store, finishedChunk(jobId, chunk));
      return "finished";
    },
    { room: FULL_DISK, watchMs: 20 },
  );
  await using _ = runner;
  await signUp(store, "acc_a");
  const { jobId } = await startedJob(store, "job_1", 3);
  await runner.start();
  await until("pause", () => store.findJob(jobId)?.status === "paused");
  await until("tries", () => begun.filter((n) => n === 0).length > 2);
  expect(store.findJob(jobId)).toMatchObject({ statusReason: "storage", processed: 20, unitsCharged: 20 });
  isFull = false;
  await until("end of the gap", () => store.findJob(jobId)?.processed === 30);
  expect(store.findJob(jobId)).toMatchObject({ status: "paused", statusReason: "storage", unitsCharged: 30 });
  store.close();
});

test("a job that is paused and resumed while it waits for its second look-up still waits", async () => {
  const begun: string[] = [];
  const { store, runner } = runnerOn(
    async ({ jobId, round }, chunk) => {
      begun.push(`${jobId} ${round}`);
      await finish(store, finishedChunk(jobId, chunk, { unchecked: 2, processed: 8 }));
      return "finished";
    },
    { waitMs: 60_000 },
  );
  await using _ = runner;
  await signUp(store, "acc_a");
  const job = await startedJob(store, "job_1", 1);
  runner.run(job);
  await until("the second round", () => store.findJob("job_1")?.round === 2);
  await runner.hold(job);
  runner.run(job);
  runner.run(await startedJob(store, "job_2", 1));
  await until("the job behind it", () => begun.includes("job_2 1"));
  expect(begun).toEqual(["job_1 1", "job_2 1"]);
  store.close();
});

test.each(["paused", "cancelling"] as const)(
  "a chunk that fails repeatedly does not hold up a job that is %s meanwhile",
  async (status) => {
    const { promise: isSteered, resolve: steered } = Promise.withResolvers<void>();
    let isBegun = false;
    const { store, runner } = runnerOn(async () => {
      isBegun = true;
      await isSteered;
      throw new HopelessChunkError("for the test");
    });
    await using _ = runner;
    await signUp(store, "acc_a");
    const job = await startedJob(store, "job_1", 1);
    runner.run(job);
    await until("chunk in work", () => isBegun);
    const changed = store.changeJob("job_1", ["running"], { status, statusReason: "by_caller" });
    expect(changed?.status).toBe(status);
    steered();
    const end = status === "paused" ? "failed" : "cancelled";
    await until("end of the job", () => store.findJob("job_1")?.status === end);
    store.close();
  },
);

test("a job that fails in its second round counts the rows of the chunk that failed, and of those in work", async () => {
  const { promise: hasFailed, resolve: failed } = Promise.withResolvers<void>();
  const { promise: isInWork, resolve: inWork } = Promise.withResolvers<void>();
  const { store, runner } = runnerOn(async ({ jobId, round }, chunk) => {
    if (round === 1) {
      const numbers = { unchecked: 2, processed: 8, counts: { deliverable: 8 } };
      await finish(store, finishedChunk(jobId, chunk, numbers));
    } else if (chunk.n === 0) {
      await isInWork;
      throw new HopelessChunkError("for the test");
    } else {
      inWork();
      await hasFailed;
      const looked = { replaces: true, processed: 2, units: 2, counts: { deliverable: 2 } };
      await finish(store, finishedChunk(jobId, chunk, looked));
    }
    return "finished";
  });
  await using _ = runner;
  await signUp(store, "acc_a");
  runner.run(await startedJob(store, "job_1", 2));
  await until("the second round", () => store.findJob("job_1")?.round === 2);
  await runner.start();
  await until("the failure", () => store.findJob("job_1")?.status === "failed");
  failed();
  await until("the last chunk", () => store.findJob("job_1")?.processed === 20);
  expect(JSON.parse(store.findJob("job_1")?.counts ?? "")).toEqual({ deliverable: 18, unknown: 2 });
  store.close();
});

test("the rows of a chunk that a former process finished after its job had failed are counted at the start", async () => {
  const { store, runner } = runnerOn(async () => "finished");
  await using _ = runner;
  await signUp(store, "acc_a");
  await startedJob(store, "job_1", 1);
  const late = await claimed(store, "job_1");
  store.changeJob("job_1", ["queued"], { status: "failed", statusReason: "for the test" });
  const numbers = { unchecked: 2, processed: 8, counts: { deliverable: 8 } };
  await finish(store, finishedChunk("job_1", late, numbers));
  await runner.start();
  const counted = () => store.findJob("job_1");
  await until("the rows", () => counted()?.processed === 10);
  expect(counted()?.status).toBe("failed");
  expect(JSON.parse(counted()?.counts ?? "")).toEqual({ deliverable: 8, unknown: 2 });
  store.close();
});

test("a start waits for none of the failed jobs of a former process, and all are looked at after it", async () => {
  const done = Promise.withResolvers<void>();
  const { store, runner } = runnerOn(
    async () => {
      done.resolve();
      return "finished";
    },
    { watchMs: 5 },
  );
  await using _ = runner;
  await signUp(store, "acc_a");
  const failed = Array.from({ length: 250 }, (_job, n) => `job_${n}`);
  for (const jobId of failed) {
    await startedJob(store, jobId, 1);
    const late = await claimed(store, jobId);
    store.changeJob(jobId, ["queued"], { status: "failed", statusReason: "for the test" });
    await finish(
      store,
      finishedChunk(jobId, late, { unchecked: 2, processed: 8, counts: { deliverable: 8 } }),
    );
  }
  await startedJob(store, "job_next", 1);
  const counted = () => failed.filter((jobId) => store.findJob(jobId)?.processed === 10).length;
  await runner.start();
  expect(counted()).toBe(0);
  await done.promise;
  await until("the rows of all", () => counted() === failed.length);
  store.close();
});

test("running chunks of a job that another process has deleted are aborted and put back", async () => {
  const signals: AbortSignal[] = [];
  const { store, runner } = runnerOn(
    (_, __, signal) => {
      signals.push(signal);
      const { promise, reject } = Promise.withResolvers<ChunkOutcome>();
      signal.addEventListener("abort", () => reject(signal.reason));
      return promise;
    },
    { watchMs: 20 },
  );
  await using _ = runner;
  await signUp(store, "acc_a");
  await startedJob(store, "job_1", 2, "acc_a");
  await startedJob(store, "job_2", 1, "acc_a");
  await runner.start();
  await until("chunks in work", () => signals.length === 3);
  store.changeJob("job_1", ["running"], { status: "cancelling", deletedAt: 5 });
  await until("its end", () => store.findJob("job_1")?.status === "cancelled");
  expect(store.findJob("job_1")).toMatchObject({ processed: 0, unitsCharged: 0, expiresAt: 5 });
  // The other job goes on.
  expect(signals.filter(({ aborted }) => aborted)).toHaveLength(2);
  expect(runner.chunksInWork()).toBe(1);
  store.close();
});

test("jobs that are paused for units hold up no others, and go on once there are units", async () => {
  const rich = new Set<string>();
  let asked = 0;
  const meter: JobRunnerDependencies["meter"] = {
    enter: () => {
      asked += 1;
    },
    unitsLeft: ({ accountId }) => (rich.has(accountId) ? 1 : 0),
    mayCover: ({ accountId }) => rich.has(accountId),
  };
  const { store, runner } = runnerOn(
    async ({ jobId }, chunk) => {
      await finish(store, finishedChunk(jobId, chunk));
      return "finished";
    },
    { meter, watchMs: 5 },
  );
  await using _ = runner;
  for (let n = 0; n < 200; n += 1) {
    await signUp(store, `acc_${n}`);
    await startedJob(store, `job_${n}`, 1, `acc_${n}`);
    store.changeJob(`job_${n}`, ["queued"], { status: "paused", statusReason: "out_of_units" });
  }
  await runner.start();
  expect(asked).toBeLessThanOrEqual(20);
  rich.add("acc_199");
  await until("the end of the job", () => store.findJob("job_199")?.status === "completed");
  expect(store.findJob("job_198")?.status).toBe("paused");
  store.close();
});

/** Counts the turns of the event loop. */
function turnCount() {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns += 1;
    next = setImmediate(count);
  }
  return { turns: () => turns, [Symbol.dispose]: () => clearImmediate(next) };
}

/** Each look at the clock finds a millisecond gone. */
function busyClock(): Clock {
  let monotonicMs = 0;
  return { now: clock.now, monotonic: () => ++monotonicMs };
}

test("other work goes on while very many paused jobs are looked at", async () => {
  using counter = turnCount();
  const looks: number[] = [];
  const mayCover = () => looks.push(counter.turns()) === 0;
  const meter: JobRunnerDependencies["meter"] = { enter: () => undefined, unitsLeft: () => 0, mayCover };
  const { store, runner } = runnerOn(async () => "finished", { meter, runnerClock: busyClock() });
  await using _ = runner;
  for (let n = 0; n < 200; n += 1) {
    await signUp(store, `acc_${n}`);
    await startedJob(store, `job_${n}`, 1, `acc_${n}`);
    store.changeJob(`job_${n}`, ["queued"], { status: "paused", statusReason: "by_caller" });
  }
  await runner.start();
  expect([looks.length, new Set(looks).size > 20]).toEqual([200, true]);
  store.close();
});

test("a look at the jobs that is under way when the process ends asks the store for nothing more", async () => {
  const { store, runner } = runnerOn(async () => "finished", { runnerClock: busyClock() });
  await signUp(store, "acc_a");
  for (let n = 0; n < 50; n += 1) {
    await startedJob(store, `job_${n}`, 1);
    store.changeJob(`job_${n}`, ["queued"], { status: "cancelling", statusReason: "by_caller" });
  }
  const started = runner.start();
  await new Promise(setImmediate);
  await runner[Symbol.asyncDispose]();
  expect(store.jobsIn(["cancelling"]).length).toBeGreaterThan(0);
  store.close();
  await started;
});

test("a job that its caller pauses while its disk is looked at stays paused", async () => {
  const { store, runner } = runnerOn(async () => "finished", {
    room: {
      isLeft: async () => true,
      isBack: async () => {
        store.changeJob("job_1", ["paused"], { status: "paused", statusReason: "by_caller" });
        return true;
      },
    },
  });
  await using _ = runner;
  await signUp(store, "acc_a");
  await startedJob(store, "job_1", 1);
  store.changeJob("job_1", ["queued"], { status: "paused", statusReason: "storage" });
  await runner.start();
  expect(store.findJob("job_1")).toMatchObject({ status: "paused", statusReason: "by_caller" });
  store.close();
});

test("jobs that the disk has no room for are all paused, each in a turn of its own", async () => {
  using counter = turnCount();
  const turns = new Set<number>();
  const { store, runner } = runnerOn(async () => "finished", {
    room: { isLeft: async () => false, isBack: async () => false },
    changed: () => void turns.add(counter.turns()),
  });
  await signUp(store, "acc_a");
  for (let n = 0; n < 50; n += 1) await startedJob(store, `job_${n}`, 1);
  await runner.start();
  await until("the pauses", () => store.jobsIn(["queued"]).length === 0);
  await runner[Symbol.asyncDispose]();
  expect(turns.size).toBe(50);
  store.close();
});
