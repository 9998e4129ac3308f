import { expect, test } from "bun:test";
import fc from "fast-check";
import { createQueryQueue } from "../../src/dns/query-queue.ts";

test("in any sequence of operations the bounds hold, and items start in order of arrival", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant("enter" as const) },
    { weight: 2, arbitrary: fc.record({ leave: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ late: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const started: number[] = [];
      const accepted: number[] = [];
      const queue = createQueryQueue<number>({
        inFlightMax: 3,
        lateMax: 2,
        waitingMax: 5,
        start: (item) => started.push(item),
      });
      let next = 0;
      for (const move of steps) {
        const underWay = queue.underWay();
        if (move === "enter") {
          if (queue.enter(next)) accepted.push(next);
          next++;
        } else if ("leave" in move) {
          const item = underWay[move.leave % Math.max(1, underWay.length)];
          expect(queue.leave(item ?? -1)).toBe(item !== undefined);
        } else queue.markLate(underWay[move.late % Math.max(1, underWay.length)] ?? -1);
        const { inFlight, late, waiting } = queue.counts();
        expect(inFlight <= 3 && late <= 2 && waiting <= 5).toBe(true);
        expect(waiting === 0 || inFlight === 3).toBe(true);
        expect(started).toEqual(accepted.slice(0, started.length));
        expect(started.length + waiting).toBe(accepted.length);
      }
    }),
  );
});

test("each of 100,000 queued items is started", () => {
  let started = 0;
  const queue = createQueryQueue<number>({
    inFlightMax: 10,
    lateMax: 0,
    waitingMax: 100_000,
    start: () => {
      started++;
    },
  });
  for (let item = 0; item < 100_000; item++) queue.enter(item);
  for (let item = 0; item < 100_000; item++) queue.leave(item);
  expect(started).toBe(100_000);
  expect(queue.counts()).toEqual({ inFlight: 0, late: 0, waiting: 0 });
});
