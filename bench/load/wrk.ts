import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Aim } from "./jobs.ts";

/** Another driver, where it is installed: what it finds must be what ours finds. */
export type Wrk = Disposable & {
  /** Replies a second, by the number of connections. */
  readonly perSecond: (aim: Aim, connections: number, seconds: number) => Promise<number>;
};

/** Returns wrk sending the paths in turn, or null where it is not installed. */
export function openWrk(paths: readonly string[]): Wrk | null {
  const program = Bun.which("wrk");
  if (program === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "assay-wrk-"));
  const script = join(folder, "paths.lua");
  const list = paths.map((path) => JSON.stringify(path)).join(",");
  writeFileSync(
    script,
    `local paths = {${list}}\nlocal at = 0\nrequest = function() at = at % #paths + 1; return wrk.format("GET", paths[at]) end\n`,
  );
  return {
    async perSecond({ url, key }, connections, seconds) {
      const options = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", script];
      const header = ["-H", `Authorization: Bearer ${key}`];
      const child = Bun.spawn({ cmd: [program, ...options, ...header, url], stdout: "pipe" });
      const text = await new Response(child.stdout).text();
      const found = /Requests\/sec:\s+([\d.]+)/.exec(text)?.[1];
      if (found === undefined || text.includes("Non-2xx")) throw new Error(`wrk says ${text}`);
      return Number(found);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
