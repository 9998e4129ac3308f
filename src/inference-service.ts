import { startInferenceService } from "./app/inference-service.ts";
import { readInferenceServiceConfig } from "./app/inference-settings.ts";
import { runMain, serve } from "./app/main-process.ts";

await runMain(() =>
  serve(readInferenceServiceConfig(process.env), startInferenceService, {
    welcome: (url) => `The inference service listens on ${url}
Read and try it:  ${url}/docs
What it costs:    curl -s ${url}/v1/models
`,
  }),
);
