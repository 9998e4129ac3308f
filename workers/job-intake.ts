import { createIntakeWorker } from "../src/jobs/intake/intake-worker.ts";
import { systemClock } from "../src/platform/clock.ts";
import { createFairTurns } from "../src/platform/fair-turns.ts";
import { yieldThread } from "../src/platform/thread-priority.ts";

/** The thread that reads the inputs of jobs. */

// Rows are read beside calls, and no sooner than batches are judged.
yieldThread(5);

const worker = createIntakeWorker(
  createFairTurns(systemClock.monotonic),
  (reply, transfer) => postMessage(reply, [...transfer]),
  () => setTimeout(() => Bun.gc(true), 0),
);
addEventListener("message", ({ data }) => worker.receive(data));
