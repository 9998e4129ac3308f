import { join } from "node:path";
import type { Subprocess } from "bun";
import { endedWithParent } from "../../src/tools/cluster/children.ts";
import { onFirstCores } from "./cores.ts";
import type { BatchesJob, BatchesRound, Job, JobReport, SinglesJob, SinglesRound } from "./jobs.ts";

export const ROOT = join(import.meta.dir, "../..");
const START_DEADLINE_MS = 20_000;

/** As `bun run start` sets it, and the same for whatever is compared with the server. */
export const ALLOCATOR = { MIMALLOC_PURGE_DELAY: "60000" } as const;

type Environment = { readonly [name: string]: string };

/** A process that was started for the measurement and ends with it. */
export type Started = AsyncDisposable & {
  /** What it announced: the first line that it wrote. */
  readonly line: string;
  readonly pid: number;
  readonly startedMs: number;
};

export type StartOptions = {
  readonly argument?: string;
  /** Runs on this many cores, the first ones; on all unless given. */
  readonly cores?: number | null;
  /** The checkout that the file is of; this one unless given. */
  readonly root?: string;
};

/** Starts a file of this project with Bun and waits for its first line. */
export async function startFile(
  file: string,
  environment: Environment,
  { argument = "", cores = null, root = ROOT }: StartOptions = {},
): Promise<Started> {
  const startedMs = performance.now();
  const child = Bun.spawn({
    cmd: [...endedWithParent("SIGTERM"), ...onFirstCores(cores), process.execPath, file, argument],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", ...ALLOCATOR, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), START_DEADLINE_MS);
  try {
    const line = await firstLine(child);
    return { line, pid: child.pid, startedMs, [Symbol.asyncDispose]: () => end(child) };
  } finally {
    clearTimeout(timer);
  }
}

async function firstLine(child: Subprocess<"ignore", "pipe", "inherit">): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: true });
    const newline = text.indexOf("\n");
    if (newline !== -1) return text.slice(0, newline);
    if (done) throw new Error(`A process ended before it said anything: ${text}`);
  }
}

/** By the id of the process that was started, first kindly. */
async function end(child: Subprocess<"ignore", "pipe", "inherit">): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
  await child.exited;
  clearTimeout(timer);
}

export const DRIVER = "bench/load/driver.ts";

/** Runs a job in a driver process of its own. */
export async function drive(job: SinglesJob): Promise<JobReport<SinglesRound>>;
export async function drive(job: BatchesJob): Promise<JobReport<BatchesRound>>;
export async function drive(job: Job): Promise<unknown> {
  return runFile(DRIVER, job);
}

/** Runs a file that takes JSON as its argument and writes JSON. */
export async function runFile(file: string, argument: unknown, root: string = ROOT): Promise<unknown> {
  const child = Bun.spawn({
    cmd: [process.execPath, file, JSON.stringify(argument)],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", ...ALLOCATOR },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${file} failed`);
  return JSON.parse(text);
}
