import { createLog } from "./app/log.ts";
import { runMain, stopOnSignals } from "./app/main-process.ts";
import { systemPlatform } from "./app/platform.ts";
import { startScanService } from "./app/scan-service.ts";
import { readScanServiceConfig } from "./app/service-settings.ts";

/** Starts the scanning service and ends it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readScanServiceConfig(process.env);
  const log = createLog(config.logLevel);
  const server = await startScanService(config, systemPlatform(log));
  process.stdout.write(`The scanning service listens on ${server.url}
Read and try it:  ${server.url}/docs
What it costs:    curl -si ${server.url}/v1/scan -H 'Content-Type: application/json' -d '{"origin": "https://your.host"}'
`);
  stopOnSignals(server, log);
}

await runMain(main);
