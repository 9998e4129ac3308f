import { expect, test } from "bun:test";
import { createChunkStops } from "../../src/jobs/chunks/chunk-stops.ts";
import { createPace } from "../../src/jobs/pace.ts";
import { gapReader } from "../../src/jobs/shared-gap.ts";

test("stopping a job waits for the end of its last chunk, and other jobs continue", async () => {
  const stops = createChunkStops(null);
  const work = Promise.withResolvers<void>();
  const [mine, other] = [stops.signalOf("job_1"), stops.signalOf("job_2")];
  stops.track("job_1", work.promise);
  let isGivenUp = false;
  const givenUp = stops.giveUp("job_1").then(() => {
    isGivenUp = true;
  });
  await Promise.resolve();
  expect([mine.aborted, other.aborted, isGivenUp]).toEqual([true, false, false]);
  work.resolve();
  await givenUp;
});

test("while stopping a job waits for its last chunk, no thread rests", async () => {
  const pace = createPace({ clock: { monotonic: () => 0 } });
  const isHurried = () => gapReader(pace.gap)().isHurried;
  const stops = createChunkStops(pace);
  const work = Promise.withResolvers<void>();
  stops.track("job_1", work.promise);
  const givenUp = stops.giveUp("job_1");
  expect(isHurried()).toBe(true);
  work.resolve();
  await givenUp;
  expect(isHurried()).toBe(false);
});

test("a job that has ended is forgotten, one with a running chunk is not", async () => {
  const stops = createChunkStops(null);
  const work = Promise.withResolvers<void>();
  const signals = ["job_1", "job_2", "job_3"].map(stops.signalOf);
  stops.track("job_2", work.promise);
  stops.seen([{ jobId: "job_3" }]);
  const now = ["job_1", "job_2", "job_3"].map(stops.signalOf);
  expect(now.map((signal, at) => signal === signals[at])).toEqual([false, true, true]);
  work.resolve();
});

test("a chunk that begins after all are stopped is stopped at once", () => {
  const stops = createChunkStops(null);
  const before = stops.signalOf("job_1");
  stops.giveUpAll();
  expect([before.aborted, stops.signalOf("job_2").aborted]).toEqual([true, true]);
});
