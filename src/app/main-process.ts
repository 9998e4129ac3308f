import { StoreOpenError } from "../store/storage-error.ts";
import { errorFacts, type Log } from "./log.ts";
import type { RunningServer } from "./server.ts";
import { ConfigError } from "./setting-reader.ts";

/** Runs a server's main function. Where it throws, writes why, in one sentence where that is known, and exits with 1. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StoreOpenError;
    process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
    process.exit(1);
  }
}

/** The first signal drains; the second ends the process at once, which loses nothing that was answered. */
export function stopOnSignals(server: RunningServer, log: Log): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { signal });
    const exitCode = await stopServer(server, log);
    log.flush();
    process.exit(exitCode);
  };
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void stop(signal));
}

async function stopServer(server: RunningServer, log: Log): Promise<number> {
  try {
    log.info("stopped", { clean: await server.stop() });
    return 0;
  } catch (error) {
    log.error("stopping failed", errorFacts(error));
    return 1;
  }
}
