import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { pause } from "../../src/platform/pause.ts";

const HOUR_MS = 3_600_000;

test("a pause leaves nothing behind on a signal that outlives it", async () => {
  const { signal } = new AbortController();
  await pause(0, signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a pause ends with its signal, before or after it began", async () => {
  const stop = new AbortController();
  const pausing = pause(HOUR_MS, stop.signal);
  stop.abort();
  expect(await pausing).toBeUndefined();
  expect(await pause(HOUR_MS, stop.signal)).toBeUndefined();
});
