import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { createScanFlights } from "../../src/scan/running-scans.ts";

/** Who shares a scan, who waits, and who is refused, by a clock that tests move. */

function setUp(options: { runningMax?: number; waitingMax?: number; patienceMs?: number } = {}) {
  let ms = 0;
  let ids = 0;
  const clock = { now: () => ms, monotonic: () => ms };
  const flights = createScanFlights<string>(
    { clock },
    {
      ...{ runningMax: 2, waitingMax: 3, waitingPerTenantMax: 2, intervalMs: 60_000, patienceMs: 25_000 },
      ...options,
      newId: () => `rep_${++ids}`,
    },
  );
  const gates = new Map<string, () => void>();
  const flown: string[] = [];
  const board = (origin: string, key: string, tenant = key) =>
    flights.board(origin, { tenant, key, arrivedMs: ms }, async (id) => {
      flown.push(origin);
      const { promise, resolve } = Promise.withResolvers<void>();
      gates.set(origin, resolve);
      await promise;
      return `${origin} by ${id}`;
    });
  return {
    flights,
    flown,
    board,
    land: async (origin: string) => {
      await turn();
      gates.get(origin)?.();
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

test("calls for an origin share the flight that is under way, and those up to 10 s after it", async () => {
  const { board, flown, land, pass } = setUp();
  const first = board("a", "1");
  const second = board("a", "2");
  await land("a");
  expect(await first).toEqual({ kind: "landed", result: "a by rep_1", joined: false });
  expect(await second).toEqual({ kind: "landed", result: "a by rep_1", joined: true });
  pass(10_000);
  expect(await board("a", "3")).toMatchObject({ result: "a by rep_1", joined: true });
  expect(flown).toEqual(["a"]);
});

test("an origin is scanned once a minute: what is neither fresh nor due is refused", async () => {
  const { board, flights, flown, land, pass } = setUp();
  const first = board("a", "1");
  await land("a");
  await first;
  pass(10_001);
  expect(await codeOf(board("a", "2"))).toBe("rate_limited");
  expect(() => flights.requireBoardable("a")).toThrow(ApiError);
  flights.requireBoardable("b");
  pass(50_000);
  flights.requireBoardable("a");
  const again = board("a", "3");
  await land("a");
  expect(await again).toMatchObject({ result: "a by rep_2", joined: false });
  expect(flown).toEqual(["a", "a"]);
});

test("past capacity scans wait in order, no caller takes all the places, and the rest is refused", async () => {
  const { board, flights, flown, land } = setUp();
  const boarded = [board("a", "1"), board("b", "2"), board("c", "3", "x"), board("d", "4", "x")];
  expect(await codeOf(board("e", "5", "x"))).toBe("overloaded");
  boarded.push(board("f", "6"));
  expect(await codeOf(board("g", "7"))).toBe("overloaded");
  expect([flown, flights.stats()]).toEqual([["a", "b"], { running: 2, waiting: 3 }]);
  for (const origin of ["a", "b", "c", "d", "f"]) await land(origin);
  await Promise.all(boarded);
  expect([flown, flights.stats()]).toEqual([["a", "b", "c", "d", "f"], { running: 0, waiting: 0 }]);
});

test("a call that is late gets the same scan when it comes back, however late", async () => {
  const { board, flights, flown, land, pass } = setUp({ runningMax: 1, patienceMs: 5 });
  const running = board("a", "1");
  expect(await board("b", "2")).toEqual({ kind: "late", id: "rep_2" });
  expect([await running, flights.isFlying("rep_2"), flights.under("b")]).toEqual([
    { kind: "late", id: "rep_1" },
    true,
    "rep_2",
  ]);
  await land("a");
  await land("b");
  pass(3_600_000);
  expect(await board("b", "2")).toEqual({ kind: "landed", result: "b by rep_2", joined: true });
  expect([flown, flights.under("b"), flights.isFlying("rep_2")]).toEqual([["a", "b"], null, false]);
});
