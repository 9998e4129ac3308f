import { expect, test } from "bun:test";
import type { GatherFacts } from "../../src/batch/gather-facts.ts";
import type { Chunk } from "../../src/batch/messages.ts";
import { createChunkFacts } from "../../src/jobs/chunks/chunk-facts.ts";
import type { Job } from "../../src/jobs/job.ts";

const FACTS = { buffers: [], offsets: new SharedArrayBuffer(0) };
const { signal } = new AbortController();
const jobOf = (jobId: string, round = 1) =>
  ({ jobId, round, accountId: "acc_1", options: { deep: false, dns: true } }) as Job;

function factsAt() {
  const clock = { nowMs: 1_000 };
  /** What each gathering was asked for, with the deadlines. */
  const asked: (readonly [domains: string, deadlineMs: number | undefined])[][] = [];
  const failures: ((expiresAtMs: number) => void)[] = [];
  const gatherFacts: GatherFacts = ({ onFailure = () => {} }) => {
    failures.push(onFailure);
    const mine: (typeof asked)[number] = [];
    asked.push(mine);
    return async ({ newDomains, deadlineMs }) => {
      mine.push([newDomains, deadlineMs]);
      return FACTS;
    };
  };
  const facts = createChunkFacts({
    gatherFacts,
    clock: { monotonic: () => clock.nowMs },
    lookupTimeoutMs: 50,
    failureMaxMs: 30_000,
  });
  return { clock, asked, failures, facts };
}

const opened = (id: string, domainsBefore: number, newDomains: string) => ({
  chunk: { newDomains, domainNumbers: new Uint32Array(1) } as Chunk,
  place: { id, domainsBefore },
});

test("the chunks of a job share the facts of the thread that numbered their domains, each with its own deadline", async () => {
  const { clock, asked, facts } = factsAt();
  await facts.groupOf(jobOf("job_1"), signal).find(opened("1.1", 0, "a.com\nb.com"));
  clock.nowMs += 100;
  const group = facts.groupOf(jobOf("job_1"), signal);
  await group.find(opened("1.1", 2, "c.com"));
  await group.find(opened("2.1", 0, "a.com"));
  expect(asked).toEqual([
    [
      ["a.com\nb.com", 1_050],
      ["c.com", 1_150],
    ],
    [["a.com", 1_150]],
  ]);
});

test("facts are looked up again after five seconds, and in a second round", () => {
  const { clock, facts } = factsAt();
  const nameOf = (round: number) => facts.groupOf(jobOf("job_1", round), signal).name;
  const first = nameOf(1);
  clock.nowMs += 4_999;
  expect(nameOf(1)).toBe(first);
  expect(nameOf(2)).not.toBe(first);
  clock.nowMs += 1;
  expect(nameOf(1)).not.toBe(first);
});

test("the failures of a job expire with the last one, at most after thirty seconds, and are then forgotten", async () => {
  const { clock, failures, facts } = factsAt();
  const group = facts.groupOf(jobOf("job_1"), signal);
  await group.find(opened("1.1", 0, "a.com"));
  await group.find(opened("2.1", 0, "b.com"));
  expect(facts.failuresExpireMs("job_1")).toBe(0);
  for (const ms of [6_000, 21_000]) failures[0]?.(ms);
  failures[1]?.(11_000);
  expect([facts.failuresExpireMs("job_1"), facts.failuresExpireMs("job_2")]).toEqual([21_000, 0]);
  failures[1]?.(1_000_000);
  expect(facts.failuresExpireMs("job_1")).toBe(31_000);
  clock.nowMs = 31_000;
  facts.groupOf(jobOf("job_2"), signal);
  expect(facts.failuresExpireMs("job_1")).toBe(0);
});

test("a chunk whose numbers do not continue the received ones gets no facts of other domains", () => {
  const { asked, facts } = factsAt();
  const group = facts.groupOf(jobOf("job_1"), signal);
  expect(() => group.find(opened("1.1", 3, "d.com"))).toThrow("domains of a job were numbered twice");
  expect(asked.flat()).toEqual([]);
});
