import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

/** The real server as a process of its own. */
export type ServerProcess = AsyncDisposable & {
  readonly url: string;
  readonly child: Subprocess<"ignore", "pipe", "pipe">;
  /** From the spawn to the first answered request. */
  readonly startMs: number;
  /** Ends it and waits for its exit code. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<number | null>;
  readonly rssBytes: () => Promise<number>;
};

const ROOT = join(import.meta.dir, "../..");
const START_DEADLINE_MS = 15_000;

/** Starts `src/main.ts` with these settings and waits until it answers. */
export async function startProcess(environment: { readonly [name: string]: string }): Promise<ServerProcess> {
  const startedMs = performance.now();
  const child = Bun.spawn({
    cmd: [process.execPath, "src/main.ts"],
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? "",
      HOST: "127.0.0.1",
      PORT: "0",
      LOG_LEVEL: "error",
      ...environment,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const url = await announcedUrl(child);
  await fetch(`${url}/healthz`);
  const startMs = performance.now() - startedMs;
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal);
    await child.exited;
    return child.exitCode;
  };
  return {
    url,
    child,
    startMs,
    end,
    async rssBytes() {
      const status = await Bun.file(`/proc/${child.pid}/status`).text();
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await end("SIGKILL");
    },
  };
}

/** Runs `src/main.ts` where it is expected to refuse, and returns what it says. */
export async function failedStart(environment: { readonly [name: string]: string }) {
  const child = Bun.spawn({
    cmd: [process.execPath, "src/main.ts"],
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? "", PORT: "0", LOG_LEVEL: "silent", ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  const said = await new Response(child.stderr).text();
  const exitCode = await child.exited;
  clearTimeout(timer);
  return { said, exitCode };
}

async function announcedUrl(child: Subprocess<"ignore", "pipe", "pipe">): Promise<string> {
  const timer = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  const reader = child.stdout.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += new TextDecoder().decode(value);
    const url = /listens on (http\S+)/.exec(text)?.[1];
    if (url !== undefined) {
      clearTimeout(timer);
      void drain(reader);
      return url;
    }
    if (done) throw new Error(`The server did not start: ${text}${await new Response(child.stderr).text()}`);
  }
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done) {
    // What is not read would block the server once the pipe is full.
  }
}

/** A folder of its own that goes with the test. */
export function temporaryFolder(name: string): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), `assay-${name}-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
