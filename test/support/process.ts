import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
  /** The lines of its log so far. */
  readonly logged: () => readonly string[];
};

/** A server whose clock is in the hands of the test. */
export type ShiftedServerProcess = ServerProcess & {
  /** Sets how far its clock is from the machine's, and returns when it is. */
  readonly shiftClock: (offsetMs: number) => Promise<void>;
};

type Environment = { readonly [name: string]: string };

const ROOT = join(import.meta.dir, "../..");
const START_DEADLINE_MS = 40_000;
const SAID_CHARS_MAX = 4_000_000;

/** Starts `src/main.ts` with these settings and waits until it answers. */
export async function startProcess(environment: Environment): Promise<ServerProcess> {
  return launch([process.execPath, "src/main.ts"], { cwd: ROOT, environment });
}

/** The same with a module that runs before it. */
export async function startPreloaded(module: string, environment: Environment): Promise<ServerProcess> {
  return launch([process.execPath, "--preload", module, "src/main.ts"], { cwd: ROOT, environment });
}

/** A server whose event loop is watched. */
export type WatchedServerProcess = ServerProcess & {
  /** The longest time that the main thread worked without a turn, since this was asked last. */
  readonly longestTurnMs: () => Promise<number>;
  /** The most memory that was resident since this was asked last. */
  readonly mostRssBytes: () => Promise<number>;
};

/** Starts the server of `startShiftedProcess`, or another, under a watch of its event loop; `folder` is one of the test's. */
export async function startWatchedProcess(
  environment: Environment,
  folder: string,
  script = "shifted-server",
): Promise<WatchedServerProcess> {
  const watchFile = join(folder, `loop-watch-${script}`);
  const server = await launch(
    [process.execPath, "--preload", "./test/support/loop-watch.ts", `test/support/${script}.ts`],
    { cwd: ROOT, environment: { ...environment, TEST_LOOP_WATCH_FILE: watchFile }, ipc: () => {} },
  );
  const { pid } = server.child;
  return {
    ...server,
    longestTurnMs: async () => Number(await (await fetch(await Bun.file(watchFile).text())).json()),
    async mostRssBytes() {
      const status = await Bun.file(`/proc/${pid}/status`).text();
      // Sets the mark back to what is resident now.
      writeFileSync(`/proc/${pid}/clear_refs`, "5");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
    },
  };
}

/** Starts a command that serves, in a folder and an environment that hold nothing but what is given. */
export async function startCommand(
  cmd: readonly string[],
  cwd: string,
  environment: Environment,
): Promise<ServerProcess> {
  return launch(cmd, { cwd, environment: { PATH: "/usr/bin:/bin", ...environment } });
}

/**
 * Starts the server on a clock that the test moves, off by `TEST_CLOCK_OFFSET_MS` at the start, and with the
 * batch worker of `TEST_BATCH_WORKER` where one is named. Everything else is as in `src/main.ts`.
 */
export async function startShiftedProcess(environment: Environment): Promise<ShiftedServerProcess> {
  let onOffset: ((offsetMs: number) => void) | undefined;
  const server = await launch([process.execPath, "test/support/shifted-server.ts"], {
    cwd: ROOT,
    environment,
    ipc: (message) => onOffset?.(Number(message)),
  });
  return {
    ...server,
    async shiftClock(offsetMs) {
      const { promise, resolve } = Promise.withResolvers<number>();
      onOffset = resolve;
      server.child.send(offsetMs);
      await promise;
    },
  };
}

/** Returns the offset that sets a clock to the 15th, from where no jump of an hour turns the month. */
export function midMonthOffsetMs(): number {
  const now = Date.now();
  return new Date(now).setUTCDate(15) - now;
}

/** Starts the server of `startShiftedProcess`, and kills it once `isTime` says so, whether it answers by then or not. */
export async function killStart(environment: Environment, isTime: () => Promise<void>): Promise<void> {
  const child = spawnServer([process.execPath, "test/support/shifted-server.ts"], {
    cwd: ROOT,
    environment,
    ipc: () => {},
  });
  try {
    await isTime();
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

/** What a server runs in. */
type Place = {
  readonly cwd: string;
  readonly environment: Environment;
  readonly ipc?: (message: unknown) => void;
};

function spawnServer(cmd: readonly string[], { cwd, environment, ipc }: Place) {
  return Bun.spawn({
    cmd: [...cmd],
    cwd,
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
    ...(ipc === undefined ? {} : { ipc }),
  });
}

async function launch(cmd: readonly string[], place: Place): Promise<ServerProcess> {
  const startedMs = performance.now();
  const child = spawnServer(cmd, place);
  const { url, said } = await announcedUrl(child);
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
    logged: () =>
      said()
        .split("\n")
        .filter((line) => line.startsWith("{")),
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
export async function failedStart(environment: Environment, wrapper: readonly string[] = []) {
  const child = Bun.spawn({
    cmd: [...wrapper, process.execPath, "src/main.ts"],
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

/** Runs a command to its end, in an environment that holds nothing but what is given. */
export async function runCommand(
  cmd: readonly string[],
  cwd: string,
  environment: Environment,
): Promise<{ readonly exitCode: number; readonly said: string; readonly complained: string }> {
  const child = Bun.spawn([...cmd], { cwd, env: { ...environment }, stdout: "pipe", stderr: "pipe" });
  const [said, complained, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, said, complained };
}

async function announcedUrl(child: Subprocess<"ignore", "pipe", "pipe">) {
  const timer = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  const reader = child.stdout.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += new TextDecoder().decode(value);
    const [announced, url] = /listens on (http\S+)\n/.exec(text) ?? [];
    if (announced !== undefined && url !== undefined) {
      clearTimeout(timer);
      return { url, said: gather(reader, text.slice(text.indexOf(announced) + announced.length)) };
    }
    if (done) throw new Error(`The server did not start: ${text}${await new Response(child.stderr).text()}`);
  }
}

type TextReader = { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> };

/** Reads on, as what is not read would block the server once the pipe is full; keeps the beginning. */
function gather(reader: TextReader, beginning: string): () => string {
  const decoder = new TextDecoder();
  let text = beginning;
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (text.length < SAID_CHARS_MAX) text += decoder.decode(value, { stream: true });
    }
  };
  void read();
  return () => text;
}

/** A folder of its own that goes with the test. */
export function temporaryFolder(name: string): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), `assay-${name}-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
