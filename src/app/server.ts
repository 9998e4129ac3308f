import { openComponents } from "./components.ts";
import { listen, stopListening } from "./listener.ts";
import type { Platform } from "./platform.ts";
import { createApp } from "./routes.ts";
import type { Config } from "./settings.ts";

/** A server that answers. */
export type RunningServer = {
  readonly url: string;
  /**
   * Asks balancers to send no more and waits for them, where the settings say so; then refuses new calls, lets those in
   * flight end within the grace time, and closes every component. Returns whether all calls ended.
   */
  readonly stop: () => Promise<boolean>;
};

/** Opens the components, mounts the routes on them and listens. */
export async function startServer(config: Config, platform: Platform): Promise<RunningServer> {
  const components = await openComponents(config, platform);
  let leaving = false;
  let draining = false;
  const ending = { leaving: () => leaving, draining: () => draining };
  const app = createApp(config, platform, components, ending);
  try {
    listen(app, config);
  } catch (error) {
    await components[Symbol.asyncDispose]();
    throw error;
  }
  return {
    url: app.server?.url.origin ?? "",
    async stop() {
      leaving = true;
      if (config.shutdownDelayMs > 0) await Bun.sleep(config.shutdownDelayMs);
      draining = true;
      const ended = await stopListening(app, config.shutdownGraceMs);
      await components[Symbol.asyncDispose]();
      return ended;
    },
  };
}
