import { describe, expect, test } from "bun:test";
import { createLateWatch } from "../../src/batch/late-watch.ts";

const passed = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** A watch of 1 ms on a clock that the test moves; the timers are real, and see what the clock says. */
function setting() {
  const clock = { nowMs: 0, now: () => 0, monotonic: () => clock.nowMs };
  const late: string[] = [];
  const watch = createLateWatch<string>({ clock, lateMs: 1, onLate: (work) => late.push(work) });
  const untilLate = async (count: number) => {
    for (let turn = 0; turn < 1000 && late.length < count; turn += 1) await passed();
    return late;
  };
  return { clock, watch, late, untilLate };
}

describe("work that is watched", () => {
  test("is late once, in the order of its begins, unless it has ended", async () => {
    const { clock, watch, untilLate } = setting();
    for (const work of ["a", "b", "c"]) watch.begin(work);
    watch.end("b");
    clock.nowMs = 1;
    expect(await untilLate(2)).toEqual(["a", "c"]);
    clock.nowMs = 100;
    expect(await untilLate(3)).toEqual(["a", "c"]);
  });

  test("has each its own time", async () => {
    const { clock, watch, untilLate } = setting();
    watch.begin("early");
    clock.nowMs = 0.9;
    watch.begin("later");
    clock.nowMs = 1;
    expect(await untilLate(1)).toEqual(["early"]);
    clock.nowMs = 2;
    expect(await untilLate(2)).toEqual(["early", "later"]);
  });

  test("is watched again after a time without any", async () => {
    const { clock, watch, untilLate } = setting();
    watch.begin("first");
    watch.end("first");
    clock.nowMs = 5;
    await passed();
    watch.begin("second");
    clock.nowMs = 6;
    expect(await untilLate(1)).toEqual(["second"]);
  });
});
