import { setTimeout as elapsed } from "node:timers/promises";
import type { Serve } from "bun";
import type { MountedApp } from "../http/mount.ts";
import { IDLE_TIMEOUT_SECONDS } from "../http/served-call.ts";
import { systemCode } from "../platform/system-reason.ts";
import { ConfigError } from "./setting-reader.ts";
import type { Config } from "./settings.ts";

/** Listens on an address. Throws a ConfigError where that is not possible. */
export function listen(
  app: MountedApp,
  { host, port, databaseUrl = null }: Pick<Config, "host" | "port"> & Partial<Pick<Config, "databaseUrl">>,
): void {
  try {
    // As the app would listen, but that it maps its routes once more, is compiled twice before anybody calls what is
    // none of them, and has the server read all twice: a twentieth of the start.
    app.server = Bun.serve({
      hostname: host,
      port,
      // Two servers on one port must be an error, not a lottery, unless they are nodes of one cluster.
      reusePort: databaseUrl !== null,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      // Bun answers what is over its limit with an empty 413; the routes have limits and an envelope of their own.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // None of them upgrades to another protocol.
      routes: (app.config.serve?.routes ?? {}) as Serve.Routes<unknown, string>,
      fetch: (request) => app.fetch(request),
    });
  } catch (cause) {
    throw listenError(cause, host, port);
  }
}

/** Returns the sentence for the operator whose address cannot be listened on. */
export function listenError(cause: unknown, host: string, port: number): ConfigError {
  return new ConfigError(reasonOf(systemCode(cause), host, port), { cause });
}

function reasonOf(code: string, host: string, port: number): string {
  switch (code) {
    case "EADDRINUSE":
      return `${host}:${port} is in use. Stop what listens there, or set PORT to another port.`;
    case "EACCES":
      return `This user may not listen on ${host}:${port}. Set PORT to 1024 or above.`;
    default:
      return `HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all, not "${host}".`;
  }
}

/** Lets the calls in flight end within the grace time, then breaks them off. Returns whether all of them ended. */
export async function stopListening(app: MountedApp, graceMs: number): Promise<boolean> {
  const ended = await Promise.race([app.stop().then(() => true), elapsed(graceMs, false, { ref: false })]);
  if (!ended) await app.stop(true);
  return ended;
}
