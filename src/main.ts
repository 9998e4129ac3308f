import { availableParallelism } from "node:os";
import { systemRandomBytes } from "./accounts/api-key.ts";
import { systemClock } from "./clock.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createLog, type Log } from "./log.ts";
import { type RunningServer, startServer } from "./server.ts";
import { StoreOpenError } from "./store/storage-error.ts";

/** Starts the server and ends it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readConfig(process.env, availableParallelism());
  const log = createLog(config.logLevel);
  const server = await startServer(config, {
    clock: systemClock,
    log,
    random: Math.random,
    randomBytes: systemRandomBytes,
    newRequestId: () => `req_${Bun.randomUUIDv7("base64url")}`,
    workerFiles: {
      batch: new URL("../workers/batch.ts", import.meta.url).href,
      directorySync: new URL("../workers/directory-sync.ts", import.meta.url).href,
    },
  });
  process.stdout.write(`Assay listens on ${server.url}\n`);
  stopOnSignals(server, log);
}

/** The first signal drains; the second ends the process at once, which loses nothing that was answered. */
function stopOnSignals(server: RunningServer, log: Log): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { signal });
    const clean = await server.stop();
    log.info("stopped", { clean });
    log.flush();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop(signal));
}

try {
  await main();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof StoreOpenError;
  process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
  process.exit(1);
}
