import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Bound,
  LONGEST_PAGE,
  NOT_MODIFIED_MS_MAX,
  PATHS,
  QUICK,
  RESIDENT_MB_MAX,
  SETTLE_MS,
} from "./bounds.ts";
import { say, spread, verdict } from "./figures.ts";

/** The whole server as a process of its own, over HTTP. */
export async function measureServer(upstream: string, dataDir: string): Promise<void> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], {
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      DATA_DIR: dataDir,
      DIRECTORY_UPSTREAM: upstream,
      DIRECTORY_ALLOW_PRIVATE: "true",
      DIRECTORY_SYNC_SECONDS: QUICK ? "1" : "4",
      PUBLIC_REQUESTS_PER_SECOND: "100000",
      LOG_LEVEL: "error",
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = new TextDecoder().decode((await server.stdout.getReader().read()).value);
  const url = /http\S+/.exec(said)?.[0] ?? "";
  const versionOf = async () => (await fetch(`${url}/v1/directory/export`, { method: "HEAD" })).headers;
  const until = async (version: number) => {
    while (Number((await versionOf()).get("x-directory-version") ?? 0) < version) await Bun.sleep(50);
  };
  try {
    await until(1);
    await Bun.sleep(SETTLE_MS);
    sayMemory("server after the first sync", server.pid);
    for (const [path, bound] of PATHS) await measureCalls(`GET ${path}`, bound, () => fetch(url + path));
    const etag = (await versionOf()).get("etag") ?? "";
    await measureCalls("GET /v1/directory/export, If-None-Match", { at: 0.5, ms: NOT_MODIFIED_MS_MAX }, () =>
      fetch(`${url}/v1/directory/export`, { headers: { "If-None-Match": etag } }),
    );
    for (let version = 2; version <= (QUICK ? 2 : 5); version++) {
      await measureSwap(url, upstream, () => until(version));
      await Bun.sleep(SETTLE_MS);
      sayMemory(`server, every listing changed, snapshot ${version}`, server.pid);
    }
  } finally {
    server.kill();
    await server.exited;
  }
}

/** Calls while every listing changes, and from the swap on: on the newest snapshot and on the one before it. */
async function measureSwap(url: string, upstream: string, until: () => Promise<void>): Promise<void> {
  const begun = await fetch(`${url}/v1/directory?sort=latency`);
  const { next_cursor: cursor } = (await begun.json()) as { next_cursor: string };
  await fetch(`${upstream}/next`);
  let isOver = false;
  const swapped = until().then(() => {
    isOver = true;
  });
  await measureCalls(
    "GET /healthz during a full sync",
    null,
    () => fetch(`${url}/healthz`),
    () => isOver,
  );
  await swapped;
  const [path = ""] = PATHS[0] ?? [];
  await measureCalls("the filtered, sorted page from the swap on", LONGEST_PAGE, () => fetch(url + path));
  const former = `${url}/v1/directory?cursor=${cursor}`;
  await measureCalls("a page of the snapshot before", LONGEST_PAGE, () => fetch(former));
}

function sayMemory(name: string, pid: number): void {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (field: string) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  const [resident, most] = [megabytes("VmRSS"), megabytes("VmHWM")];
  const figures = `${resident.toFixed(0)} MB resident, ${most.toFixed(0)} MB at the most`;
  say(name, `${figures}: ${verdict(most, RESIDENT_MB_MAX, "MB")}`);
}

async function measureCalls(
  name: string,
  bound: Bound | null,
  call: () => Promise<Response>,
  isOver?: () => boolean,
): Promise<void> {
  const times: number[] = [];
  while (isOver === undefined ? times.length < 100 : !isOver()) {
    const startedMs = performance.now();
    const reply = await call();
    await reply.bytes();
    times.push(performance.now() - startedMs);
    if (!reply.ok && reply.status !== 304) throw new Error(`${name} is answered ${reply.status}`);
    await Bun.sleep(2);
  }
  say(name, spread(times, bound));
}
