import { join } from "node:path";

export type LatencyProbe = { readonly stop: () => Promise<{ calls: number; slowestMs: number }> };

/** Calls an address again and again from another process, until it is stopped. */
export async function startLatencyProbe(url: string): Promise<LatencyProbe> {
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dir, "latency-probe.ts"), url],
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    async stop() {
      child.kill("SIGTERM");
      const { value } = await reader.read();
      await child.exited;
      return JSON.parse(new TextDecoder().decode(value));
    },
  };
}
