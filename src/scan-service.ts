import { runMain, serve } from "./app/main-process.ts";
import { startScanService } from "./app/scan-service.ts";
import { readScanServiceConfig } from "./app/service-settings.ts";

await runMain(() =>
  serve(readScanServiceConfig(process.env), startScanService, {
    welcome: (url) => `The scanning service listens on ${url}
Read and try it:  ${url}/docs
What it costs:    curl -si ${url}/v1/scan -H 'Content-Type: application/json' -d '{"origin": "https://your.host"}'
`,
  }),
);
