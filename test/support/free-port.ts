import { createServer } from "node:net";

/** Below the ports that systems give to connections: one of theirs may take such a port at any moment. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const ATTEMPTS_MAX = 200;

/**
 * Returns a port that nobody listens on, and that no other process of tests is given while this one lives. `isFree` says
 * whether a server can start at it.
 */
export async function freePort(isFree: (port: number) => Promise<boolean> = isFreeByTcp): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error(`no port of ${PORTS.from} to ${PORTS.to} is free`);
}

/** Whether this process is the first to ask for the port: a name that Linux frees when the process ends says so. */
function reserve(port: number): boolean {
  if (process.platform !== "linux") return true;
  try {
    Bun.listen({ unix: `\0assay-test-port-${port}`, socket: { data() {} } }).unref();
    return true;
  } catch {
    return false;
  }
}

function isFreeByTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
