import { describe, expect, test } from "bun:test";
import { createWaitLimits } from "../../src/platform/wait-limits.ts";

const MANY = 10_000;

/** Waits on the machine's clock; what is given up is noted in its order. */
function setting() {
  const limits = createWaitLimits({ monotonic: () => performance.now() });
  const givenUp: string[] = [];
  const begin = (name: string, limit: { readonly inMs?: number; readonly signal?: AbortSignal }) =>
    limits.begin(
      {
        deadlineMs: limit.inMs === undefined ? undefined : performance.now() + limit.inMs,
        signal: limit.signal,
      },
      () => givenUp.push(name),
    );
  return { limits, givenUp, begin };
}

/** Resolves once a wait that begins now is given up at its deadline. */
function untilDeadline({ limits }: ReturnType<typeof setting>, inMs: number): Promise<void> {
  return new Promise((resolve) => limits.begin({ deadlineMs: performance.now() + inMs }, resolve));
}

describe("a wait", () => {
  test("is given up once at its deadline and not before it", async () => {
    const at = setting();
    const beganMs = performance.now();
    at.begin("late", { inMs: 40 });
    at.begin("early", { inMs: 5 });
    await untilDeadline(at, 20);
    expect(at.givenUp).toEqual(["early"]);
    await untilDeadline(at, 40);
    expect(at.givenUp).toEqual(["early", "late"]);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(40);
  });

  test("is given up at the abort of its signal, with all others of that signal", () => {
    const { limits, givenUp, begin } = setting();
    const [one, other] = [new AbortController(), new AbortController()];
    for (const name of ["a", "b", "c"]) begin(name, { signal: one.signal });
    begin("of another signal", { signal: other.signal });
    limits.ended(begin("ended", { signal: one.signal }));
    one.abort();
    expect(givenUp).toEqual(["a", "b", "c"]);
  });

  test("with both limits is given up at the first alone", async () => {
    const at = setting();
    const stop = new AbortController();
    at.begin("both", { inMs: 5, signal: stop.signal });
    stop.abort();
    await untilDeadline(at, 20);
    expect(at.givenUp).toEqual(["both"]);
  });

  test("that has ended is given up by nothing", async () => {
    const at = setting();
    const stop = new AbortController();
    at.limits.ended(at.begin("ended", { inMs: 5, signal: stop.signal }));
    await untilDeadline(at, 20);
    stop.abort();
    expect(at.givenUp).toEqual([]);
  });

  test("whose deadline has passed already is given up in the next turn", async () => {
    const at = setting();
    at.begin("passed", { inMs: -1000 });
    expect(at.givenUp).toEqual([]);
    await untilDeadline(at, 0);
    expect(at.givenUp).toEqual(["passed"]);
  });
});

test("many waits for one signal have one listener", () => {
  const { givenUp, begin } = setting();
  const stop = new AbortController();
  let listeners = 0;
  const { signal } = stop;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...listener: Parameters<typeof add>) => {
    listeners += 1;
    add(...listener);
  };
  for (let wait = 0; wait < MANY; wait += 1) begin("one of many", { signal });
  stop.abort();
  expect(listeners).toBe(1);
  expect(givenUp.length).toBe(MANY);
});
