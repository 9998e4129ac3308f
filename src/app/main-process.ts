import type { Clock } from "../platform/clock.ts";
import { StoreOpenError } from "../store/storage-error.ts";
import { createLog, errorFacts, type Log } from "./log.ts";
import { type Platform, systemPlatform } from "./platform.ts";
import type { RunningServer } from "./server.ts";
import { ConfigError } from "./setting-reader.ts";
import type { LogLevel } from "./settings.ts";

const NO_OPTIONS =
  "A server takes no options: its settings are read from the environment, such as PORT=4000; README lists them.";

/**
 * Runs a server's main function. Where it throws, writes why, in one sentence where that is known, and exits with 1. So it
 * does with an option: who wrote `--port 4000` would find the server elsewhere.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  const option = process.argv.slice(2).find((word) => word.startsWith("-"));
  if (option !== undefined) {
    const isAsked = option === "--help";
    (isAsked ? process.stdout : process.stderr).write(`${NO_OPTIONS}\n`);
    process.exit(isAsked ? 0 : 1);
  }
  try {
    await main();
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StoreOpenError;
    process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
    process.exit(1);
  }
}

/** Starts a server, writes on standard output where it listens and what to do there, and ends it on SIGTERM or SIGINT. */
export async function serve<Settings extends { readonly logLevel: LogLevel }>(
  settings: Settings,
  start: (settings: Settings, platform: Platform) => Promise<RunningServer>,
  {
    welcome,
    warnings = [],
  }: { readonly welcome: (url: string) => string; readonly warnings?: readonly string[] },
): Promise<void> {
  const log = createLog(settings.logLevel);
  for (const warning of warnings) log.warn(warning, {});
  const platform = systemPlatform(log);
  const server = await start(settings, platform);
  process.stdout.write(welcome(server.url));
  stopOnSignals(server, platform);
}

/**
 * Signals that come this soon after the first are the same one: Ctrl-C and systemd's stop reach each process of a group,
 * and `bun run` then passes its own on to the server.
 */
const SAME_SIGNAL_MS = 500;

/** The first signal drains; the second ends the process at once, which loses nothing that was answered. */
function stopOnSignals(
  server: RunningServer,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): void {
  let firstMs: number | null = null;
  const stop = async (signal: string) => {
    const nowMs = clock.monotonic();
    if (firstMs !== null) {
      if (nowMs - firstMs < SAME_SIGNAL_MS) return;
      process.exit(1);
    }
    firstMs = nowMs;
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
