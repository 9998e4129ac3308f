import { availableParallelism } from "node:os";
import { systemRandomBytes } from "../../src/accounts/api-key.ts";
import { createLog } from "../../src/app/log.ts";
import { startServer } from "../../src/app/server.ts";
import { readConfig } from "../../src/app/settings.ts";
import { createRequestIds } from "../../src/http/request-ids.ts";
import { systemClock } from "../../src/platform/clock.ts";

// The server of src/main.ts with workers that verify nothing: the ceiling that transport and metering set.

const server = await startServer(readConfig(process.env, availableParallelism()), {
  clock: systemClock,
  log: createLog("error"),
  random: Math.random,
  randomBytes: systemRandomBytes,
  newRequestId: createRequestIds(systemRandomBytes),
  workerFiles: {
    batch: new URL("./stub-worker.ts", import.meta.url).href,
    jobs: new URL("../../workers/jobs.ts", import.meta.url).href,
    directorySync: new URL("../../workers/directory-sync.ts", import.meta.url).href,
    jobIntake: new URL("../../workers/job-intake.ts", import.meta.url).href,
  },
});
process.stdout.write(`Assay listens on ${server.url}\n`);
