import { startInferenceService } from "./app/inference-service.ts";
import { readInferenceServiceConfig } from "./app/inference-settings.ts";
import { createLog } from "./app/log.ts";
import { runMain, stopOnSignals } from "./app/main-process.ts";
import { systemPlatform } from "./app/platform.ts";

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

await runMain(main);
