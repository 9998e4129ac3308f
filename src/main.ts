import { availableParallelism } from "node:os";
import { ConfigError, readConfig } from "./config.ts";
import { createLog } from "./log.ts";
import { startServer } from "./server.ts";
import { StoreOpenError } from "./store/storage-error.ts";

/** Starts the server, and ends it on SIGTERM or SIGINT; a second signal ends it at once. */
async function main(): Promise<void> {
  const config = readConfig(process.env, availableParallelism());
  const log = createLog(config.logLevel);
  const server = await startServer(config, log);
  process.stdout.write(`Assay listens on ${server.url}\n`);
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(130);
    stopping = true;
    log.info("stopping", { signal });
    const clean = await server.stop();
    log.info("stopped", { clean });
    log.flush();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
}

try {
  await main();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof StoreOpenError;
  process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
  process.exit(1);
}
