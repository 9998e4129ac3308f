import { availableParallelism } from "node:os";
import { createLog } from "./app/log.ts";
import { runMain, stopOnSignals } from "./app/main-process.ts";
import { systemPlatform } from "./app/platform.ts";
import { startServer } from "./app/server.ts";
import { settingWarnings } from "./app/setting-names.ts";
import { readConfig } from "./app/settings.ts";

/** Starts the server and ends it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readConfig(process.env, availableParallelism());
  const log = createLog(config.logLevel);
  for (const warning of settingWarnings(process.env)) log.warn(warning, {});
  const server = await startServer(config, systemPlatform(log));
  process.stdout.write(welcome(server.url));
  stopOnSignals(server, log);
}

function welcome(url: string): string {
  return `Assay listens on ${url}
Read and try it:  ${url}/docs
Get a key:        curl -s ${url}/v1/signup -H 'Content-Type: application/json' -d '{"email": "you@your-domain.com"}'
`;
}

await runMain(main);
