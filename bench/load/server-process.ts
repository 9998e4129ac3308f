import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBenchFolder } from "../folder.ts";
import type { Aim } from "./jobs.ts";
import { type StartOptions, startFile } from "./processes.ts";

/** A server of this project as a process of its own, with an account whose limits are out of the way. */
export type BenchServer = AsyncDisposable &
  Aim & {
    readonly pid: number;
    /** From the spawn to the first answered request. */
    readonly startMs: number;
  };

/** On `cores` cores it has a thread for batches on each. */
export type ServerOptions = StartOptions & {
  readonly dns: string;
  /** The file to start: the server itself, or one that is composed with other workers. */
  readonly file?: string;
  readonly environment?: { readonly [name: string]: string };
  /** Of an account that its database has; one is made unless given. */
  readonly key?: string;
};

/** A plan that nothing runs into: what is measured is the server, not its limits. */
const PLAN_LIMITS = {
  included_units: 1_000_000_000,
  requests_per_second: 1_000_000,
  burst: 2_000_000,
  max_batch_size: 100_000,
  max_job_size: 10_000_000,
  max_jobs: 30,
} as const;

export async function startServerProcess(options: ServerOptions): Promise<BenchServer> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(openBenchFolder("load"));
  const server = stack.use(
    await startFile(
      options.file ?? "src/main.ts",
      {
        HOST: "127.0.0.1",
        PORT: "0",
        LOG_LEVEL: "error",
        DATA_DIR: join(folder, "data"),
        DNS_SERVERS: options.dns,
        PLANS_FILE: writePlans(folder),
        SIGNUPS_PER_MINUTE: "100000",
        ...(options.cores == null ? {} : { WORKER_THREADS: `${options.cores}` }),
        ...options.environment,
      },
      options,
    ),
  );
  const url = /listens on (http\S+)/.exec(server.line)?.[1];
  if (url === undefined) throw new Error(`The server said ${server.line}`);
  await (await fetch(`${url}/healthz`)).text();
  const startMs = performance.now() - server.startedMs;
  const key = options.key ?? (await signUp(url));
  const opened = stack.move();
  return { url, key, pid: server.pid, startMs, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The catalogue with one of its plans without limits. */
function writePlans(folder: string): string {
  const plan = (name: string, price: string) => ({
    plan: name,
    monthly_price_usd: price,
    overage_unit_price_usd: "0.000400",
    ...PLAN_LIMITS,
  });
  const plans = [
    plan("free", "0.00"),
    plan("starter", "29.00"),
    plan("growth", "149.00"),
    plan("scale", "749.00"),
  ];
  const path = join(folder, "plans.json");
  writeFileSync(path, JSON.stringify({ currency: "USD", plans }));
  return path;
}

async function signUp(url: string): Promise<string> {
  const reply = await fetch(`${url}/v1/signup`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "owner@company-1.com", plan: "scale" }),
  });
  const body: unknown = await reply.json();
  if (typeof body === "object" && body !== null && "api_key" in body && typeof body.api_key === "string") {
    return body.api_key;
  }
  throw new Error(`No key: ${JSON.stringify(body)}`);
}
