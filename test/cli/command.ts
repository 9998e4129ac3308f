import { join } from "node:path";
import { type FixtureServer, startFixtureServer } from "../../src/made-up-dns/server.ts";
import { temporaryFolder } from "../support/process.ts";
import { TEST_ZONE } from "../support/server.ts";

/** The real command as a process of its own, in a folder of its own, with a made-up DNS. */
export type CommandRoom = AsyncDisposable & {
  readonly folder: string;
  readonly dns: FixtureServer;
  /** Writes a file there and returns its path. */
  readonly write: (name: string, content: string | Uint8Array) => Promise<string>;
  readonly read: (name: string) => Promise<string>;
  readonly exists: (name: string) => Promise<boolean>;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>;
  /** Starts it and leaves the rest to the caller. */
  readonly start: (args: readonly string[], options?: RunOptions) => Started;
};

export type RunOptions = {
  readonly stdin?: string;
  readonly env?: { readonly [name: string]: string };
  /** Shell commands before it, such as a limit. */
  readonly shell?: string;
};

export type Ran = { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };

export type Started = { readonly child: Bun.Subprocess; readonly ended: Promise<Ran> };

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");
const DEADLINE_MS = 25_000;

export async function openCommandRoom(zone: string = TEST_ZONE): Promise<CommandRoom> {
  const folder = temporaryFolder("cli");
  const dns = await startFixtureServer({ zone });

  function start(args: readonly string[], { stdin, env = {}, shell }: RunOptions = {}): Started {
    const command = [process.execPath, MAIN, ...args];
    const child = Bun.spawn({
      cmd: shell === undefined ? command : ["bash", "-c", `${shell}; exec "$@"`, "bash", ...command],
      cwd: folder.path,
      env: { PATH: process.env.PATH ?? "", DNS_SERVERS: dns.address, WORKER_THREADS: "2", ...env },
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
      timeout: DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    const ended = Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]).then(([stdout, stderr]) => ({ exitCode: child.exitCode, stdout, stderr }));
    return { child, ended };
  }

  return {
    folder: folder.path,
    dns,
    start,
    run: (args, options) => start(args, options).ended,
    async write(name, content) {
      const path = join(folder.path, name);
      await Bun.write(path, content);
      return path;
    },
    read: (name) => Bun.file(join(folder.path, name)).text(),
    exists: (name) => Bun.file(join(folder.path, name)).exists(),
    async [Symbol.asyncDispose]() {
      await dns.close();
      folder[Symbol.dispose]();
    },
  };
}

/** The lines of NDJSON. */
export function parsedLines(text: string): { readonly [field: string]: unknown }[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
