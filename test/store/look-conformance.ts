import { describe, expect, test } from "bun:test";
import type { Clock } from "../../src/platform/clock.ts";
import type { Store } from "../../src/store/port.ts";
import { claimed, finish, finishedChunk, jobRecord, startedJob } from "./job-conformance.ts";
import { clock, keyRecord, NOON, signUp } from "./store-conformance.ts";
import { event, webhookRecord } from "./webhook-conformance.ts";

const ENDED = { finishedAt: NOON + 1, expiresAt: NOON + 2 };
const undo = () => {
  throw new Error("undone");
};

/** What is looked for again and again is found, though earlier looks found nothing. */
export function describeLooks(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  async function opened(): Promise<Store> {
    const store = await open(clock);
    await signUp(store, "acc_a");
    return store;
  }

  describe(`${name}: a look that follows one that found nothing`, () => {
    test("finds a delivery once it is due, and none that was undone", async () => {
      const store = await opened();
      const webhook = webhookRecord("wh_1");
      await store.createWebhook(webhook, 20, null);
      const look = async (now: number) => (await store.claimDelivery(now, []))?.delivery.type ?? null;
      expect(await look(NOON)).toBeNull();
      const undone = async () => store.addDelivery(webhook, event("a"), undo);
      await expect(undone()).rejects.toThrow("undone");
      expect(await look(NOON)).toBeNull();
      await store.addDelivery(webhook, event("b", NOON + 5), () => null);
      await store.addDelivery(webhook, event("c", NOON + 3), () => null);
      expect(await look(NOON + 2)).toBeNull();
      expect([await look(NOON + 3), await look(NOON + 4), await look(NOON + 5)]).toEqual(["c", null, "b"]);
      expect(await look(NOON + 9)).toBeNull();
    });

    test("finds a delivery that was put off", async () => {
      const store = await opened();
      const webhook = webhookRecord("wh_1");
      await store.createWebhook(webhook, 20, null);
      const look = async (now: number) => (await store.claimDelivery(now, []))?.delivery;
      await store.addDelivery(webhook, event("a"), () => null);
      const claimed = await look(NOON);
      if (claimed === undefined) throw new Error("no delivery is due");
      expect(await look(NOON + 90)).toBeUndefined();
      const failed = { status: 500, error: null, latencyMs: 1, answer: null };
      const again = { state: "pending", nextAttemptAt: NOON + 50, webhook: {} } as const;
      await store.endAttempt(claimed, NOON, failed, again);
      expect(await look(NOON + 49)).toBeUndefined();
      expect((await look(NOON + 50))?.attempts).toBe(1);
      expect(await look(NOON + 90)).toBeUndefined();
    });

    test("finds a key once it is about to expire, where the clock is set back, too", async () => {
      const store = await opened();
      const look = async (after: number) => {
        const found: string[] = [];
        await store.emitExpiringKeys({ after, until: after + 10, limit: 9 }, ({ keyHash }) => {
          found.push(keyHash);
          return event();
        });
        return found;
      };
      const add = (keyHash: string, expiresAt: number) =>
        store.addKey({ ...keyRecord("acc_a", keyHash), expiresAt }, 99, null);
      expect(await look(100)).toEqual([]);
      await add("late", 150);
      expect([await look(100), await look(139)]).toEqual([[], []]);
      await add("soon", 145);
      await add("ended", 130);
      await add("revoked", 146);
      await store.revokeKey("acc_a", "id revoked", 139, () => {});
      expect([await look(139), await look(139), await look(141)]).toEqual([["soon"], [], ["late"]]);
      expect([await look(141), await look(125), await look(125)]).toEqual([[], ["ended"], []]);
      expect(await look(900)).toEqual([]);
    });

    test("finds the jobs that are in a state by then", async () => {
      const store = await opened();
      const look = async (...statuses: Parameters<Store["jobsIn"]>[0]) =>
        (await store.jobsIn(statuses)).map(({ jobId, status }) => `${jobId} ${status}`);
      expect(await look("queued", "running")).toEqual([]);
      expect([await look("receiving"), await look("queued", "cancelling")]).toEqual([[], []]);
      await startedJob(store, "job_1", 1);
      expect([await look("receiving"), await look("running")]).toEqual([[], []]);
      expect(await look("queued", "running")).toEqual(["job_1 queued"]);
      await store.changeJob("job_1", ["queued"], { status: "running" });
      expect([await look("queued"), await look("queued", "running")]).toEqual([[], ["job_1 running"]]);
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1")));
      await store.endRound("job_1", ENDED);
      expect(await look("queued", "running")).toEqual([]);
      await store.createJob(jobRecord("job_2"), null, 9);
      expect(await look("receiving")).toEqual(["job_2 receiving"]);
      await startedJob(store, "job_3", 1);
      expect(await look("cancelling")).toEqual([]);
      const act = { at: NOON, operator: "o", action: "erase", accountId: "acc_a", details: "{}" };
      await store.eraseAccount("acc_a", NOON, act);
      expect([await look("queued"), await look("cancelling")]).toEqual([[], ["job_3 cancelling"]]);
    });

    test("finds the jobs in a state with what the queue has to know alone, without the names of their columns", async () => {
      const store = await opened();
      await startedJob(store, "job_1", 1);
      const inputTable = JSON.stringify({ columns: ["email", "x".repeat(400_000)] });
      await store.changeJob("job_1", ["queued"], { status: "running", inputTable });
      const known = { jobId: "job_1", accountId: "acc_a", isTest: false, startedAt: null, deletedAt: null };
      expect(await store.jobsIn(["running"])).toEqual([
        { ...known, status: "running", statusReason: null, unitsPerItem: 1, round: 1 },
      ]);
    });

    test("finds the inputs that are past their time or deleted, and no more than it is asked for", async () => {
      const store = await opened();
      const look = async (createdBy: number, limit = 9) =>
        (await store.lateJobs(createdBy, limit)).map(({ jobId, deletedAt }) => [jobId, deletedAt]);
      expect(await look(NOON)).toEqual([]);
      for (const [jobId, age] of [
        ["job_1", 100_000],
        ["job_2", 300_000],
        ["job_3", 200_000],
      ] as const) {
        await store.createJob(jobRecord(jobId, { createdAt: NOON - age }), null, 9);
      }
      const [first, second, third] = [
        ["job_2", null],
        ["job_3", null],
        ["job_1", null],
      ];
      expect(await look(NOON - 300_001)).toEqual([]);
      expect(await look(NOON - 200_000)).toEqual([first, second]);
      expect([await look(NOON), await look(NOON, 2)]).toEqual([
        [first, second, third],
        [first, second],
      ]);
      await store.changeJob("job_1", ["receiving"], { deletedAt: NOON });
      expect(await look(NOON - 300_001)).toEqual([["job_1", NOON]]);
      await store.forgetJob("job_1");
      expect(await look(NOON - 300_001)).toEqual([]);
    });

    test("finds the inputs that were cut off, oldest first, and none that comes in parts", async () => {
      const store = await opened();
      const upload = { given: "text", said: null, otherwise: null, encoding: null };
      for (const [jobId, age, options] of [
        ["job_1", 100_000, { name: '"upload":{', column: "\u0000\ud800" }],
        ["job_2", 300_000, { upload }],
        ["job_3", 200_000, {}],
      ] as const) {
        const createdAt = NOON - age;
        await store.createJob(jobRecord(jobId, { createdAt, options: JSON.stringify(options) }), null, 9);
      }
      expect(await store.cutOffJobs()).toEqual(["job_3", "job_1"]);
    });

    test("finds the failed jobs whose results are kept, page by page", async () => {
      const store = await opened();
      expect(await store.failedJobs(null, 2)).toEqual({ jobIds: [], next: null });
      for (const jobId of ["job_1", "job_2", "job_3", "job_4", "job_5"]) {
        await startedJob(store, jobId, 1);
        if (jobId !== "job_2") await store.changeJob(jobId, ["queued"], { status: "failed" });
      }
      await store.changeJob("job_4", ["failed"], { erasedAt: NOON });
      const { jobIds, next } = await store.failedJobs(null, 2);
      expect([jobIds, await store.failedJobs(next, 2)]).toEqual([
        ["job_1", "job_3"],
        { jobIds: ["job_5"], next: null },
      ]);
    });

    test("finds the jobs whose data are to be erased by then", async () => {
      const store = await opened();
      const look = async (now: number) => (await store.jobsToErase(now, 9)).map(({ jobId }) => jobId);
      expect(await look(NOON)).toEqual([]);
      await startedJob(store, "job_1", 1);
      await finish(store, finishedChunk("job_1", await claimed(store, "job_1")));
      expect(await look(NOON + 9)).toEqual([]);
      await store.endRound("job_1", ENDED);
      expect([await look(NOON + 1), await look(NOON + 2)]).toEqual([[], ["job_1"]]);
      await store.changeJob("job_1", ["completed"], { erasedAt: NOON });
      expect(await look(NOON + 9)).toEqual([]);
    });
  });
}
