import { availableParallelism } from "node:os";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { systemClock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { startServer } from "../../src/server.ts";

// The server as a process whose clock and batch worker are the test's. A number sent to it is the new distance of
// its clock from the machine's in ms, and is sent back once it holds. The monotonic clock is never touched: no
// operator can set it either.

const { TEST_CLOCK_OFFSET_MS = "0", TEST_BATCH_WORKER = "../../workers/batch.ts" } = process.env;
let offsetMs = Number(TEST_CLOCK_OFFSET_MS);

const server = await startServer(readConfig(process.env, availableParallelism()), {
  clock: { now: () => systemClock.now() + offsetMs, monotonic: systemClock.monotonic },
  log: createLog("error"),
  random: Math.random,
  randomBytes: systemRandomBytes,
  newRequestId: () => `req_${Bun.randomUUIDv7("base64url")}`,
  workerFiles: {
    batch: new URL(TEST_BATCH_WORKER, import.meta.url).href,
    directorySync: new URL("../../workers/directory-sync.ts", import.meta.url).href,
  },
});

process.on("message", (message) => {
  offsetMs = Number(message);
  process.send?.(offsetMs);
});
process.stdout.write(`Assay listens on ${server.url}\n`);
