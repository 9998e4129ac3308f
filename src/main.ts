import { availableParallelism } from "node:os";
import { runMain, serve } from "./app/main-process.ts";
import { startServer } from "./app/server.ts";
import { settingWarnings } from "./app/setting-names.ts";
import { readConfig } from "./app/settings.ts";

await runMain(() => {
  const config = readConfig(process.env, availableParallelism());
  return serve(config, startServer, {
    warnings: settingWarnings(process.env),
    welcome: (url) => `Assay listens on ${url}
Read and try it:  ${url}/docs
${config.console ? `Look and act:     ${url}/console\n` : ""}Get a key:        curl -s ${url}/v1/signup -H 'Content-Type: application/json' -d '{"email": "you@your-domain.com"}'
`,
  });
});
