import { expect, test } from "bun:test";
import { repeatUpkeep } from "../../src/app/upkeep.ts";

const HOUR_MS = 3_600_000;

test("upkeep never runs beside itself, and its failures are reported", async () => {
  await using stack = new AsyncDisposableStack();
  const reported: unknown[] = [];
  const begun: PromiseWithResolvers<void>[] = [];
  const work = () => {
    const run = Promise.withResolvers<void>();
    begun.push(run);
    return run.promise;
  };
  const run = repeatUpkeep(work, { everyMs: HOUR_MS, reportError: (error) => reported.push(error) }, stack);
  const both = [run(), run()];
  expect(begun.length).toBe(1);
  begun[0]?.reject("disk");
  await Promise.all(both);
  expect(reported).toEqual(["disk"]);
  const next = run();
  expect(begun.length).toBe(2);
  begun[1]?.resolve();
  await next;
});
