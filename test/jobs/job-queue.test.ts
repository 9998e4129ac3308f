import { expect, test } from "bun:test";
import { createJobQueue } from "../../src/jobs/job-queue.ts";

const ACCOUNTS = 10_000;
const TURNS = 2_000;
/** A turn that goes through all accounts takes milliseconds. */
const TURNS_MS_MAX = 500;

type Queue = ReturnType<typeof createJobQueue>;

/** Gives the next account a chunk; returns the job whose turn it is. */
function taken(queue: Queue): string | null {
  for (const { accountId, jobId } of queue.inTurn()) {
    queue.countTaken(accountId);
    return jobId;
  }
  return null;
}

const inOrder = (queue: Queue) => Array.from(queue.inTurn(), ({ jobId }) => jobId);

test("accounts take turns, and each has its jobs in the order in which they came", () => {
  const queue = createJobQueue();
  for (const jobId of ["a1", "a2", "b1", "a1"]) queue.add(`acc_${jobId[0]}`, jobId);
  expect([queue.jobs(), inOrder(queue)]).toEqual([3, ["a1", "a2", "b1"]]);
  expect([taken(queue), taken(queue), taken(queue), taken(queue)]).toEqual(["a1", "b1", "a1", "b1"]);
  queue.remove("acc_a", "a1");
  expect([queue.jobs(), taken(queue), queue.has("acc_a", "a1")]).toEqual([2, "a2", false]);
  queue.remove("acc_a", "a2");
  queue.remove("acc_b", "b1");
  queue.remove("acc_b", "b1");
  expect([queue.jobs(), taken(queue)]).toEqual([0, null]);
});

test("a new account is behind those that wait for a chunk, and before those that had one", () => {
  const queue = createJobQueue();
  for (const account of ["a", "b", "c"]) queue.add(account, `of ${account}`);
  taken(queue);
  queue.add("d", "of d");
  expect(inOrder(queue)).toEqual(["of b", "of c", "of d", "of a"]);
});

test("an account that is passed over keeps its turn, and one that is served twice has two rounds behind it", () => {
  const queue = createJobQueue();
  for (const account of ["a", "b", "c"]) queue.add(account, `of ${account}`);
  for (const account of ["b", "c", "b"]) queue.countTaken(account);
  expect(inOrder(queue)).toEqual(["of a", "of c", "of b"]);
  queue.countTaken("nobody");
  expect(inOrder(queue)).toEqual(["of a", "of c", "of b"]);
});

test("a job that leaves the queue while turns are taken has none", () => {
  const queue = createJobQueue();
  for (const jobId of ["a1", "a2", "a3", "b1", "c1"]) queue.add(`acc_${jobId[0]}`, jobId);
  const turns: string[] = [];
  for (const { jobId } of queue.inTurn()) {
    turns.push(jobId);
    queue.remove("acc_a", "a2");
    queue.remove("acc_b", "b1");
  }
  expect(turns).toEqual(["a1", "a3", "c1"]);
});

test("a turn costs no more where ten thousand accounts wait", () => {
  const queue = createJobQueue();
  for (let n = 0; n < ACCOUNTS; n += 1) queue.add(`acc_${n}`, `job_${n}`);
  const startedMs = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) taken(queue);
  expect(performance.now() - startedMs).toBeLessThan(TURNS_MS_MAX);
  expect(taken(queue)).toBe(`job_${TURNS}`);
});
