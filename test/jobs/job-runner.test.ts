import { expect, test } from "bun:test";
import type { ChunkOutcome } from "../../src/jobs/chunk-run.ts";
import { ROOM_ELSEWHERE } from "../../src/jobs/disk-room.ts";
import { createJobQueue } from "../../src/jobs/job-queue.ts";
import { createJobRunner } from "../../src/jobs/job-runner.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { startedJob } from "../store/job-conformance.ts";
import { clock, signUp } from "../store/store-conformance.ts";
import { until } from "../support/caller.ts";

const CHUNKS_MAX = 3;
const SPARE_CHUNKS_MAX = 2;

test("jobs whose chunks never end take all places but those of accounts that have none", async () => {
  const store = openStore({ path: ":memory:", clock });
  const running: string[] = [];
  const { promise: never } = Promise.withResolvers<ChunkOutcome>();
  await using runner = createJobRunner({
    store,
    queue: createJobQueue(),
    clock,
    runChunk: ({ accountId }) => {
      running.push(accountId);
      return never;
    },
    threadsReady: async () => {},
    unitsLeft: () => 1_000,
    room: ROOM_ELSEWHERE,
    changed: () => {},
    seen: () => {},
    reportBug: (error) => {
      throw error;
    },
    settings: {
      chunksMax: CHUNKS_MAX,
      spareChunksMax: SPARE_CHUNKS_MAX,
      startDelayMs: 0,
      lookUpAgainMs: 0,
      retentionMs: 1_000,
      watchMs: 60_000,
      pausesForStorage: true,
    },
  });
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
