import { expect, test } from "bun:test";
import { DEFAULT_PLANS as plans } from "../../src/billing/plans.ts";
import { createSharedMeter } from "../../src/billing/shared-meter.ts";
import { createJobUnits } from "../../src/jobs/job-units.ts";
import type { SharedStore } from "../../src/store/port.ts";
import { charge, handClock, openAccounting, signUp } from "../billing/accounting.ts";
import { jobRecord } from "../store/job-conformance.ts";

const ACCOUNTS = 250;
/** Of one pass: accounts that may have units again, and the others. */
const CHANGED_MAX = 100;
const UNCHANGED_MAX = 20;
const MINUTE_MS = 60_000;

/** Accounts without units, each with a job that is paused for them, on a meter that other processes charge beside. */
async function paused() {
  const accounting = openAccounting({ clock: handClock("2026-11-20T12:00:00Z") });
  const { store, clock, billingClock } = accounting;
  const accountIds = Array.from({ length: ACCOUNTS }, () => signUp(accounting).accountId);
  await Promise.all(accountIds.map((accountId) => charge(accounting, accountId, 1_000)));
  let reads = 0;
  const asked = () => reads;
  const readMonth: typeof store.readMonth = (accountId) => {
    reads += 1;
    return store.readMonth(accountId);
  };
  const shared = { ...store, readMonth: async (accountId: string) => readMonth(accountId) };
  const meter = createSharedMeter({
    store: shared as unknown as SharedStore,
    plans,
    clock: billingClock,
    planChanged: () => {},
  });
  const units = createJobUnits(meter);
  const jobs = accountIds.map((accountId, n) =>
    jobRecord(`job_${n}`, { accountId, status: "paused", statusReason: "out_of_units" }),
  );
  /** Returns the accounts whose jobs may go on by one pass, which comes a minute after the last, and its reads. */
  async function pass() {
    clock.advance(MINUTE_MS);
    const before = reads;
    units.seen(jobs);
    const back: string[] = [];
    for (const job of jobs) if (await units.areBack(job)) back.push(job.accountId);
    return { back, reads: reads - before };
  }
  async function passes(count: number) {
    const made: Awaited<ReturnType<typeof pass>>[] = [];
    for (let n = 0; n < count; n += 1) made.push(await pass());
    return { back: made.flatMap(({ back }) => back), reads: made.map((each) => each.reads) };
  }
  /** All are known from here on. */
  await passes(3);
  const upgrade = (accountId: string) => accounting.accounts.changePlan(accountId, { plan: "growth" });
  return { accountIds, jobs, clock, meter, pass, passes, units, upgrade, asked };
}

const last = (accountIds: readonly string[]): string => accountIds.at(-1) ?? "";

test("accounts without units are read a bounded number a pass, and few of them once they are known", async () => {
  const { jobs, meter, pass, passes } = await paused();
  expect(await passes(4)).toEqual({ back: [], reads: Array(4).fill(UNCHANGED_MAX) });
  meter.forgetAll();
  expect((await passes(3)).reads.every((reads) => reads <= CHANGED_MAX + UNCHANGED_MAX)).toBe(true);
  jobs.length = 0;
  expect((await pass()).reads).toBe(0);
});

test("a job goes on with the next pass after its account has units again", async () => {
  const { accountIds, meter, pass, upgrade } = await paused();
  upgrade(last(accountIds));
  meter.forget(last(accountIds));
  expect((await pass()).back).toEqual([last(accountIds)]);
});

test("a job goes on within some passes though the change of its account was missed", async () => {
  const { accountIds, passes, upgrade } = await paused();
  upgrade(last(accountIds));
  expect(new Set((await passes(Math.ceil(ACCOUNTS / UNCHANGED_MAX))).back)).toEqual(
    new Set([last(accountIds)]),
  );
});

test("as the month turns the jobs of all accounts go on, in turn", async () => {
  const { accountIds, jobs, clock, pass } = await paused();
  clock.set("2026-12-01T00:00:00Z");
  const back: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const now = (await pass()).back;
    expect(now.length).toBeLessThanOrEqual(CHANGED_MAX);
    back.push(...now);
    jobs.splice(0, jobs.length, ...jobs.filter(({ accountId }) => !back.includes(accountId)));
  }
  expect(back.toSorted()).toEqual(accountIds.toSorted());
});

test("a job that its owner paused has its account read once while that has no units", async () => {
  const { jobs, units, meter, clock, asked } = await paused();
  const [job] = jobs;
  if (job === undefined) throw new Error("there is no job");
  meter.forget(job.accountId);
  const before = asked();
  for (let n = 0; n < 3; n += 1) {
    clock.advance(MINUTE_MS);
    expect(await units.areLeft({ ...job, statusReason: "by_caller" })).toBe(false);
  }
  expect(asked() - before).toBe(1);
});
