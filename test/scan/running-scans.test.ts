import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { createRunningScans, type RunningScansOptions } from "../../src/scan/running-scans.ts";

/** Who shares a scan, who waits, and who is refused, by a clock that tests move. */

function setUp(options: Partial<RunningScansOptions> = {}) {
  let ms = 0;
  let ids = 0;
  const clock = { now: () => ms, monotonic: () => ms };
  const scans = createRunningScans<string>(
    { clock },
    {
      runningMax: 2,
      waitingMax: 3,
      waitingPerTenantMax: 2,
      intervalMs: 60_000,
      patienceMs: 25_000,
      ...options,
      newId: () => `rep_${++ids}`,
    },
  );
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const scanned: string[] = [];
  const join = (origin: string, key: string, tenant = key) =>
    scans.join(origin, { tenant, key, arrivedMs: ms }, async (id) => {
      scanned.push(origin);
      const gate = Promise.withResolvers<void>();
      gates.set(origin, gate);
      await gate.promise;
      return `${origin} by ${id}`;
    });
  return {
    scans,
    scanned,
    join,
    finish: async (origin: string) => {
      await turn();
      gates.get(origin)?.resolve();
      await turn();
    },
    fail: async (origin: string) => {
      await turn();
      gates.get(origin)?.reject(new Error("the store fails"));
      await turn();
    },
    pass: (more: number) => {
      ms += more;
    },
  };
}

/** Lets everything run that is ready. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(() => null).catch((caught: unknown) => caught);
  return error instanceof ApiError ? error.code : String(error);
}

test("calls for an origin share the scan that is running, and those up to 10 s after it", async () => {
  const { join, scanned, finish, pass } = setUp();
  const first = join("a", "1");
  const second = join("a", "2");
  await finish("a");
  expect(await first).toEqual({ kind: "finished", result: "a by rep_1", joined: false });
  expect(await second).toEqual({ kind: "finished", result: "a by rep_1", joined: true });
  pass(10_000);
  expect(await join("a", "3")).toMatchObject({ result: "a by rep_1", joined: true });
  expect(scanned).toEqual(["a"]);
});

test("an origin is scanned once a minute: what is neither fresh nor due is refused", async () => {
  const { join, scans, scanned, finish, pass } = setUp();
  const first = join("a", "1");
  await finish("a");
  await first;
  pass(10_001);
  expect(await codeOf(join("a", "2"))).toBe("rate_limited");
  expect(() => scans.requireJoinable("a")).toThrow(ApiError);
  scans.requireJoinable("b");
  pass(50_000);
  scans.requireJoinable("a");
  const again = join("a", "3");
  await finish("a");
  expect(await again).toMatchObject({ result: "a by rep_2", joined: false });
  expect(scanned).toEqual(["a", "a"]);
});

test("a refusal names the interval that is set", async () => {
  const { join, finish, scans, pass } = setUp({ intervalMs: 3_600_000 });
  const first = join("a", "1");
  await finish("a");
  await first;
  pass(600_000);
  expect(() => scans.requireJoinable("a")).toThrow("This origin is scanned every 3600 s at most.");
});

test("past capacity scans wait by turns of their callers, no caller takes all the places, and the rest is refused", async () => {
  const { join, scans, scanned, finish } = setUp();
  const joined = [join("a", "1"), join("b", "2"), join("c", "3", "x"), join("d", "4", "x")];
  expect(await codeOf(join("e", "5", "x"))).toBe("overloaded");
  joined.push(join("f", "6"));
  expect(await codeOf(join("g", "7"))).toBe("overloaded");
  expect([scanned, scans.stats()]).toEqual([["a", "b"], { running: 2, waiting: 3 }]);
  for (const origin of ["a", "b", "c", "f", "d"]) await finish(origin);
  await Promise.all(joined);
  expect([scanned, scans.stats()]).toEqual([["a", "b", "c", "f", "d"], { running: 0, waiting: 0 }]);
});

test("a call that was late and comes back for another origin gets a scan of that one", async () => {
  const { join, finish } = setUp({ runningMax: 1, patienceMs: 5 });
  expect(await join("a", "1")).toEqual({ kind: "late", id: "rep_1" });
  await finish("a");
  const other = join("b", "1");
  await finish("b");
  expect(await other).toEqual({ kind: "finished", result: "b by rep_2", joined: false });
});

test("a scan gets the next free place before any of a caller who has more running", async () => {
  const { join, scanned, finish } = setUp({ waitingMax: 60, waitingPerTenantMax: 50 });
  const many = Array.from({ length: 52 }, (_, n) => join(`m${n}`, `m${n}`, "greedy"));
  const one = join("one", "1", "honest");
  await finish("m0");
  expect(scanned).toEqual(["m0", "m1", "one"]);
  await finish("one");
  for (let n = 1; n < 52; n += 1) await finish(`m${n}`);
  expect(await one).toMatchObject({ result: "one by rep_53", joined: false });
  expect(await Promise.all(many)).toHaveLength(52);
});

test("where one scan runs at a time callers have it by turns", async () => {
  const { join, scanned, finish } = setUp({ runningMax: 1, waitingMax: 60, waitingPerTenantMax: 50 });
  const all = ["a1", "b1", "a2", "b2", "a3", "b3"].map((origin) => join(origin, origin, origin.slice(0, 1)));
  all.push(join("c1", "c1", "c"));
  const order = ["a1", "b1", "c1", "a2", "b2", "a3", "b3"];
  for (const origin of order) await finish(origin);
  await Promise.all(all);
  expect(scanned).toEqual(order);
});

test("a scan that waits behind others of its caller begins in the turn of another who joins it", async () => {
  const { join, scanned, finish } = setUp({ runningMax: 1, waitingMax: 60, waitingPerTenantMax: 50 });
  const all = ["a", "b", "c"].map((origin) => join(origin, origin, "greedy"));
  all.push(join("c", "1", "honest"));
  await finish("a");
  expect(scanned).toEqual(["a", "c"]);
  for (const origin of ["c", "b"]) await finish(origin);
  await Promise.all(all);
});

test("a call that is late gets the same scan when it comes back within 10 minutes, then a fresh one", async () => {
  const { join, scans, scanned, finish, pass } = setUp({ runningMax: 1, patienceMs: 5 });
  const running = join("a", "1");
  expect(await join("b", "2")).toEqual({ kind: "late", id: "rep_2" });
  expect([await running, scans.isRunning("rep_2"), scans.runningId("b")]).toEqual([
    { kind: "late", id: "rep_1" },
    true,
    "rep_2",
  ]);
  await finish("a");
  await finish("b");
  pass(600_000);
  expect(await join("b", "2")).toEqual({ kind: "finished", result: "b by rep_2", joined: true });
  expect([scanned, scans.runningId("b"), scans.isRunning("rep_2")]).toEqual([["a", "b"], null, false]);
  pass(1);
  const fresh = join("b", "2");
  await finish("b");
  expect(await fresh).toEqual({ kind: "finished", result: "b by rep_3", joined: false });
});

test("a call whose late scan has failed gets a fresh one when it comes back, once one is due", async () => {
  const { join, finish, fail, pass } = setUp({ patienceMs: 5 });
  expect(await join("a", "1")).toEqual({ kind: "late", id: "rep_1" });
  await fail("a");
  expect(await codeOf(join("a", "1"))).toBe("rate_limited");
  pass(60_000);
  const again = join("a", "1");
  await finish("a");
  expect(await again).toEqual({ kind: "finished", result: "a by rep_2", joined: false });
});

test("results are not held once they are neither fresh nor to be had by a call that was late", async () => {
  let ms = 0;
  const scans = createRunningScans<object>(
    { clock: { now: () => ms, monotonic: () => ms } },
    {
      ...{ runningMax: 2, waitingMax: 3, waitingPerTenantMax: 2, intervalMs: 60_000, patienceMs: 25_000 },
      newId: () => "rep_1",
    },
  );
  const results: WeakRef<object>[] = [];
  const scanOnce = async (n: number) => {
    const caller = { tenant: "1", key: `${n}`, arrivedMs: ms };
    await scans.join(`${n}`, caller, async () => {
      const result = { n };
      results.push(new WeakRef(result));
      return result;
    });
  };
  const held = async () => {
    await turn();
    Bun.gc(true);
    return results.filter((result) => result.deref() !== undefined).length;
  };
  for (let n = 0; n < 1000; n += 1) await scanOnce(n);
  expect(await held()).toBe(1000);
  ms += 40_001;
  scans.requireJoinable("another");
  // Some may still lie on the stack.
  expect(await held()).toBeLessThan(20);
});
