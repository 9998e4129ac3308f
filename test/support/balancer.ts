import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { balancerConfig } from "../../src/tools/cluster/balancer.ts";
import { freePort } from "./free-port.ts";

const PROGRAM = Bun.which("haproxy", { PATH: `${process.env.PATH ?? ""}:/usr/sbin` });
const READY_EVERY_MS = 30;
/** So that a busy machine takes no node out. */
const CHECK_TIMEOUT_MS = 10_000;

export const isBalancerInstalled = PROGRAM !== null;

/** HAProxy as `bun run cluster` sets it up, in front of nodes at these ports. */
export async function startBalancer(
  ports: readonly number[],
): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = mkdtempSync(join(tmpdir(), "assay-balancer-"));
  const port = await freePort();
  const config = join(folder, "haproxy.cfg");
  writeFileSync(config, balancerConfig({ host: "127.0.0.1", port, ports, checkTimeoutMs: CHECK_TIMEOUT_MS }));
  const child = Bun.spawn([PROGRAM ?? "haproxy", "-db", "-f", config], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  while ((await fetch(`${url}/healthz`).catch(() => null))?.status !== 200) {
    if (child.exitCode !== null) throw new Error("HAProxy did not start");
    await Bun.sleep(READY_EVERY_MS);
  }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
