import { expect, test } from "bun:test";
import { createInputsInReading } from "../../src/jobs/inputs-in-reading.ts";
import { createJobEraser } from "../../src/jobs/job-eraser.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { jobRecord } from "../store/job-conformance.ts";
import { clock, NOON, signUp } from "../store/store-conformance.ts";

const UPLOAD = JSON.stringify({ upload: { given: "text", said: null, otherwise: null, encoding: null } });
const EXPIRED = { status: "completed", expiresAt: NOON } as const;

test("what is past its retention is erased while other jobs wait, run or are paused", async () => {
  const store = openStore({ path: ":memory:", clock });
  await signUp(store, "acc_a");
  store.createJob(jobRecord("job_expired", { options: UPLOAD }), null, 9);
  store.changeJob("job_expired", ["receiving"], EXPIRED);
  store.createJob(jobRecord("job_paused", { options: UPLOAD }), null, 9);
  store.changeJob("job_paused", ["receiving"], { status: "paused" });
  const eraser = createJobEraser({
    store,
    clock,
    dropParts: async () => {},
    inReading: createInputsInReading(),
    settings: { uploadMs: 1_000_000 },
  });
  await eraser.prune();
  expect(store.findJob("job_expired")?.erasedAt).toBe(NOON);
  expect(store.findJob("job_paused")?.erasedAt).toBeNull();
  store.close();
});

test("jobs that cannot be erased hold up no others, and are tried again after half a minute, not at each pruning", async () => {
  const store = openStore({ path: ":memory:", clock });
  await signUp(store, "acc_a");
  const stuckIds = Array.from({ length: 120 }, (_, n) => `job_stuck_${n}`);
  for (const jobId of [...stuckIds, "job_expired"]) {
    store.createJob(jobRecord(jobId, { options: UPLOAD }), null, 999);
    store.changeJob(jobId, ["receiving"], EXPIRED);
  }
  store.createJob(jobRecord("job_deleted", { options: UPLOAD, deletedAt: NOON }), null, 999);
  let monotonicMs = 0;
  let isAway = true;
  const tried: string[] = [];
  const eraser = createJobEraser({
    store,
    clock: { now: () => NOON, monotonic: () => monotonicMs },
    dropParts: async (jobId) => {
      tried.push(jobId);
      const isStuck = jobId === "job_deleted" || stuckIds.includes(jobId);
      if (isStuck && isAway) throw new StorageError("the database did not answer in time");
    },
    inReading: createInputsInReading(),
    settings: { uploadMs: 1_000_000 },
  });
  const isErased = (jobId: string) => store.findJob(jobId)?.erasedAt === NOON;
  await expect(eraser.prune()).rejects.toThrow("the database did not answer in time");
  await eraser.prune().catch(() => undefined);
  expect(isErased("job_expired")).toBe(true);
  const triedOnce = [...stuckIds, "job_deleted", "job_expired"].sort();
  expect([...tried].sort()).toEqual(triedOnce);
  await eraser.prune();
  expect(tried).toHaveLength(triedOnce.length);

  monotonicMs = 30_000;
  isAway = false;
  await eraser.prune();
  await eraser.prune();
  expect(stuckIds.filter((jobId) => !isErased(jobId))).toEqual([]);
  expect(store.findJob("job_deleted")).toBeNull();
  store.close();
});

/** An eraser on a disk that is full while `isFull` is set, and a clock of its own. */
async function openOnFullDisk() {
  const store = openStore({ path: ":memory:", clock });
  await signUp(store, "acc_a");
  const disk = { isFull: false, monotonicMs: 0 };
  const eraser = createJobEraser({
    store: {
      ...store,
      changeJob(...change) {
        if (disk.isFull) throw new StorageError("database or disk is full");
        return store.changeJob(...change);
      },
    },
    clock: { now: () => NOON, monotonic: () => disk.monotonicMs },
    dropParts: async () => {},
    inReading: createInputsInReading(),
    settings: { uploadMs: 1_000_000 },
  });
  const receive = (jobId: string) => store.createJob(jobRecord(jobId), null, 999);
  const receiving = () => store.jobsIn(["receiving"]).map(({ jobId }) => jobId);
  return { store, disk, eraser, receive, receiving };
}

test("a job that a full disk keeps from being dropped fails nobody, and no longer counts within half a minute of room", async () => {
  const { store, disk, eraser, receive, receiving } = await openOnFullDisk();
  receive("job_broken");
  receive("job_received");
  disk.isFull = true;
  expect(await eraser.drop("job_broken")).toBe(false);
  await expect(eraser.prune()).rejects.toThrow("database or disk is full");
  expect(receiving()).toEqual(["job_broken", "job_received"]);
  disk.isFull = false;
  disk.monotonicMs += 30_000;
  await eraser.prune();
  expect(receiving()).toEqual(["job_received"]);
  store.close();
});

test("of jobs that a full disk keeps from being dropped the first hold up no others", async () => {
  const { store, disk, eraser, receive, receiving } = await openOnFullDisk();
  const jobIds = Array.from({ length: 250 }, (_, n) => `job_${n}`);
  for (const jobId of jobIds) receive(jobId);
  disk.isFull = true;
  for (const jobId of jobIds) await eraser.drop(jobId);
  await expect(eraser.prune()).rejects.toThrow("database or disk is full");
  disk.isFull = false;
  // The first hundred have their next try later.
  for (let round = 0; round < 2; round++) await eraser.prune();
  expect(receiving()).toHaveLength(100);
  disk.monotonicMs += 30_000;
  await eraser.prune();
  expect(receiving()).toEqual([]);
  store.close();
});

test("an input that a former process left on a full disk is dropped when there is room, and none that came since", async () => {
  const { store, disk, eraser, receive, receiving } = await openOnFullDisk();
  receive("job_left");
  disk.isFull = true;
  await expect(eraser.dropCutOff({ isOnlyLook: true })).rejects.toThrow("database or disk is full");
  disk.isFull = false;
  receive("job_received");
  disk.monotonicMs += 30_000;
  await eraser.prune();
  expect(receiving()).toEqual(["job_received"]);
  store.close();
});

test("where processes share a store, an input that could not be dropped is left to the next look: it may be read again", async () => {
  const { store, disk, eraser, receive, receiving } = await openOnFullDisk();
  receive("job_left");
  disk.isFull = true;
  await expect(eraser.dropCutOff()).rejects.toThrow("database or disk is full");
  disk.isFull = false;
  disk.monotonicMs += 30_000;
  await eraser.prune();
  expect(receiving()).toEqual(["job_left"]);
  await eraser.dropCutOff();
  expect(receiving()).toEqual([]);
  store.close();
});
