import { availableParallelism } from "node:os";
import { runMain, serve } from "./app/main-process.ts";
import { startServer } from "./app/server.ts";
import { settingWarnings } from "./app/setting-names.ts";
import { readConfig } from "./app/settings.ts";

await runMain(() =>
  serve(readConfig(process.env, availableParallelism()), startServer, {
    warnings: settingWarnings(process.env),
    welcome: (url) => `Assay listens on ${url}
Read and try it:  ${url}/docs
Get a key:        curl -s ${url}/v1/signup -H 'Content-Type: application/json' -d '{"email": "you@your-domain.com"}'
`,
  }),
);
