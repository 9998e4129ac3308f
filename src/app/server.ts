import { IDLE_TIMEOUT_SECONDS } from "../http/boundary.ts";
import { openComponents } from "./components.ts";
import type { Platform } from "./platform.ts";
import { createApp } from "./routes.ts";
import { type Config, ConfigError } from "./settings.ts";

/** A server that answers. */
export type RunningServer = {
  readonly url: string;
  /**
   * Refuses new calls, lets those in flight end within the grace time, then closes every component. Returns
   * whether all of them ended.
   */
  readonly stop: () => Promise<boolean>;
};

/** Opens the components, mounts the routes on them and listens. */
export async function startServer(config: Config, platform: Platform): Promise<RunningServer> {
  const components = await openComponents(config, platform);
  let draining = false;
  const app = createApp(config, platform, components, () => draining);
  try {
    listen(app, config);
  } catch (error) {
    await components[Symbol.asyncDispose]();
    throw error;
  }
  return {
    url: app.server?.url.origin ?? "",
    async stop() {
      draining = true;
      const ended = await Promise.race([app.stop().then(() => true), elapsed(config.shutdownGraceMs)]);
      if (!ended) await app.stop(true);
      await components[Symbol.asyncDispose]();
      return ended;
    },
  };
}

function listen(app: ReturnType<typeof createApp>, { host, port }: Config): void {
  try {
    app.listen({
      hostname: host,
      port,
      // Two servers on one port must be an error, not a lottery.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      // Bun answers what is over its limit with an empty 413; the routes have limits and an envelope of their own.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    });
  } catch (cause) {
    const inUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    const why = inUse ? "the port is in use" : "the address cannot be listened on";
    throw new ConfigError(`HOST and PORT: ${host}:${port}: ${why}.`, { cause });
  }
}

function elapsed(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
