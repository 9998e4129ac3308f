import { availableParallelism } from "node:os";
import { openComponents } from "../../src/app/components.ts";
import { listen } from "../../src/app/listener.ts";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { createApp } from "../../src/app/routes.ts";
import { readConfig } from "../../src/app/settings.ts";
import { isStep, STEPS, type Substitutes } from "./steps-left-out.ts";

// The server of src/main.ts with one step of a single check left out, which is named as the argument.

const left = process.argv[2] ?? "";
if (!isStep(left)) throw new Error(`${left} is not one of the steps`);
const config = readConfig(process.env, availableParallelism());
const platform = systemPlatform(createLog(config.logLevel));
const whole: Substitutes = { components: await openComponents(config, platform), platform };
const { components, platform: given } = STEPS[left](whole);
const app = createApp(config, given, components, { leaving: () => false, draining: () => false });
listen(app, config);
process.stdout.write(`Assay listens on ${app.server?.url.origin}\n`);
process.on("SIGTERM", () => {
  void app.stop(true).then(async () => {
    await whole.components[Symbol.asyncDispose]();
    process.exit(0);
  });
});
