import { startInferenceService } from "./app/inference-service.ts";
import { readInferenceServiceConfig } from "./app/inference-settings.ts";
import { createLog } from "./app/log.ts";
import { stopOnSignals } from "./app/main-process.ts";
import { systemPlatform } from "./app/platform.ts";
import { ConfigError } from "./app/settings.ts";
import { StoreOpenError } from "./store/storage-error.ts";

/** Starts the inference service and ends it on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const config = readInferenceServiceConfig(process.env);
  const log = createLog(config.logLevel);
  const server = await startInferenceService(config, systemPlatform(log));
  process.stdout.write(`The inference service listens on ${server.url}
Read and try it:  ${server.url}/docs
What it costs:    curl -s ${server.url}/v1/models
`);
  stopOnSignals(server, log);
}

try {
  await main();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof StoreOpenError;
  process.stderr.write(`${known ? error.message : Bun.inspect(error)}\n`);
  process.exit(1);
}
