import { availableParallelism } from "node:os";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { startServer } from "../../src/app/server.ts";
import { readConfig } from "../../src/app/settings.ts";
import { systemClock } from "../../src/platform/clock.ts";

// The server as a process whose clock and worker of batches and jobs are the test's. A number sent to it is the new distance of
// its clock from the machine's in ms, and is sent back once it holds. The monotonic clock is never touched: no
// operator can set it either.

const { TEST_CLOCK_OFFSET_MS = "0", TEST_BATCH_WORKER } = process.env;
let offsetMs = Number(TEST_CLOCK_OFFSET_MS);

const platform = systemPlatform(createLog("error"));
const server = await startServer(readConfig(process.env, availableParallelism()), {
  ...platform,
  clock: { now: () => systemClock.now() + offsetMs, monotonic: systemClock.monotonic },
  workerFiles: {
    ...platform.workerFiles,
    ...(TEST_BATCH_WORKER === undefined ? {} : { batch: TEST_BATCH_WORKER, jobs: TEST_BATCH_WORKER }),
  },
});

process.on("message", (message) => {
  offsetMs = Number(message);
  process.send?.(offsetMs);
});
process.stdout.write(`Assay listens on ${server.url}\n`);
