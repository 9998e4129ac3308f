/**
 * The directory at 80,000 listings: how long syncs block the main thread, how quickly pages are found, what it
 * costs in memory. Run `bun bench/directory.ts`; it takes about a minute and prints its figures. `--quick` takes a
 * tenth of the listings, to see that all works.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createDirectory, type Directory } from "../src/directory/directory.ts";
import { joinListings } from "../src/directory/snapshot/listing-texts.ts";
import { findMatches } from "../src/directory/snapshot/matches.ts";
import { type QueryParameters, queryOf } from "../src/directory/snapshot/query.ts";
import { createSyncThread } from "../src/directory/sync/sync-thread.ts";
import { systemClock } from "../src/platform/clock.ts";

const QUICK = process.argv.includes("--quick");
const LISTINGS = QUICK ? 8_000 : 80_000;
const SETTLE_MS = QUICK ? 300 : 3_000;
const MEGABYTE = 1024 * 1024;
/** What the figures are held against; the longest or highest one counts, the first call included. */
const BLOCKED_MS_MAX = 20;
const PAGE_MS_MAX = 5;
const SEARCH_MS_MAX = 15;
const NOT_MODIFIED_MS_MAX = 1;
const RESIDENT_MB_MAX = 400;
type Bound = { readonly at: number; readonly ms: number };
const LONGEST_PAGE: Bound = { at: 1, ms: PAGE_MS_MAX };
const LONGEST_SEARCH: Bound = { at: 1, ms: SEARCH_MS_MAX };
const PATHS: readonly (readonly [string, Bound])[] = [
  ["/v1/directory?min_score=50&max_price_usd=0.3&min_uptime=0.5&sort=latency", LONGEST_PAGE],
  ["/v1/directory?q=weather%20reliable", LONGEST_SEARCH],
];

const TOPICS =
  "weather translation image video search chat completion scraping maps finance news sports".split(" ");
const WORDS =
  "fast cheap reliable global model agent data stream vision audio text legal medical market price".split(
    " ",
  );

if (process.argv[2] === "upstream") serveUpstream();
else await main();

/** A record of the size that real ones have, about 730 bytes; `edition` changes what is measured anew each day. */
function record(n: number, edition: number): string {
  const host = `${TOPICS[n % TOPICS.length]}-${n}.example`;
  const pick = (step: number) => `${WORDS[(n * step + step) % WORDS.length]}`;
  const urls = ["/v1/run", "/v1/batch"].map((path) => `https://${host}${path}`);
  return JSON.stringify({
    host,
    service_name: `${TOPICS[(n * 7) % TOPICS.length]} service ${n}`,
    description: `A ${pick(3)} ${pick(5)} ${pick(7)} service for ${pick(11)} ${pick(13)}, number ${n}, with ${pick(17)} answers`,
    endpoints: 2,
    score: (n * 37) % 101,
    evidence: {
      pay_to: `0x${(n + 1).toString(16).padStart(40, "0")}`,
      uptime_30d: ((n * 13 + edition) % 1000) / 1000,
      probes_30d: 4320 + edition,
      median_latency_ms: (n * 17) % 3000,
      payers_30d: (n * 5) % 400,
      settlements_30d: (n * 29) % 9000,
      last_paid: new Date(1_760_000_000_000 - (n % 5000) * 60_000).toISOString(),
      pay_to_changed_at: null,
      price_usd: `0.${String((n * 7919) % 1_000_000).padStart(6, "0")}`,
    },
    resources: urls.map((url) => ({ url, score: (n * 37) % 101, price_usd: "0.010000" })),
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(urls[0] ?? "")}`,
  });
}

/** Serves an export that is a new edition whenever it is asked to be one. */
function serveUpstream(): void {
  const bodyOf = (edition: number) =>
    Bun.gzipSync(Array.from({ length: LISTINGS }, (_, n) => record(n, edition)).join("\n"), { level: 1 });
  let edition = 1;
  let body = bodyOf(edition);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (request.url.endsWith("/next")) {
        edition += 1;
        body = bodyOf(edition);
        return new Response("ok");
      }
      if (!request.url.endsWith("/v1/directory/export")) return new Response("{}", { status: 404 });
      return new Response(body, { headers: { "Content-Encoding": "gzip", ETag: `"${edition}"` } });
    },
  });
  process.stdout.write(`http://127.0.0.1:${server.port}\n`);
}

async function main(): Promise<void> {
  say("machine", `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Bun ${Bun.version}`);
  const child = Bun.spawn([process.execPath, import.meta.path, "upstream", ...process.argv.slice(2)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-directory-"));
  try {
    const reader = child.stdout.getReader();
    const url = new TextDecoder().decode((await reader.read()).value).trim();
    await measure(url, join(folder, "part"));
    await measureServer(url, join(folder, "server"));
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(upstream: string, folder: string): Promise<void> {
  const settings = { upstream, file: null, allowPrivateUpstream: true, allowRedirects: false, folder };
  const open = () =>
    createDirectory({
      settings: { upstream, syncIntervalMs: 3_600_000, acceptNextSnapshot: false },
      syncer: createSyncThread({
        workerFile: new URL("../workers/directory-sync.ts", import.meta.url).href,
        settings,
      }),
      clock: systemClock,
      random: () => 0.5,
      wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    });
  const idle = await longestGap(() => Bun.sleep(SETTLE_MS));
  say("idle", gapText(idle));
  say("resident before the first sync", `${(process.memoryUsage().rss / MEGABYTE).toFixed(0)} MB`);
  const directory = open();
  await directory.start();
  await measureSync(directory, "first full sync", () => Promise.resolve());
  await measureQueries(directory, "");
  await measureSync(directory, "full sync, nothing changed", () => Promise.resolve());
  for (const turn of ["second", "third"]) {
    await measureSync(directory, `full sync, every listing changed (${turn})`, async () => {
      await fetch(`${upstream}/next`);
    });
    await measureQueries(directory, ` after the ${turn} snapshot`);
  }
  const view = directory.view();
  const zip = await longestGap(async () => {
    if (view !== null) await directory.compressed(view.snapshot, "ndjson");
  });
  say("compressed export", `${zip.tookMs.toFixed(0)} ms, ${gapText(zip)}`);
  await directory[Symbol.asyncDispose]();
  Bun.gc(true);
  const again = open();
  const start = await longestGap(() => again.start());
  say(
    "restart from disk",
    `${start.tookMs.toFixed(0)} ms, ${gapText(start)}, ${again.view()?.snapshot.count} listings`,
  );
  await again[Symbol.asyncDispose]();
}

/** The whole server as a process of its own, over HTTP. */
async function measureServer(upstream: string, dataDir: string): Promise<void> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
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

/** PASS where the figure is under its bound. */
function verdict(figure: number, bound: number, unit: string): string {
  return `${figure < bound ? "PASS" : "SHORT"} (bound ${bound} ${unit})`;
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

/** Without a verdict where no bound is named. */
function spread(times: readonly number[], bound: Bound | null): string {
  const [first = 0] = times;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const shares = `first ${first.toFixed(2)} ms, p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms`;
  const figures = `${shares}, longest ${at(1).toFixed(2)} ms`;
  return bound === null ? figures : `${figures}: ${verdict(at(bound.at), bound.ms, "ms")}`;
}

async function measureSync(directory: Directory, name: string, prepare: () => Promise<void>): Promise<void> {
  await prepare();
  const gap = await longestGap(async () => {
    const outcome = await directory.sync();
    if (outcome.kind === "failed" || outcome.kind === "refused") throw new Error(outcome.reason);
  });
  const { count = 0, bytes = 0 } = directory.view()?.snapshot ?? {};
  const rss = process.memoryUsage().rss / MEGABYTE;
  const size = `${count} listings of ${(bytes / MEGABYTE).toFixed(0)} MB`;
  say(name, `${gap.tookMs.toFixed(0)} ms, ${gapText(gap)}, ${size}, ${rss.toFixed(0)} MB resident`);
}

async function measureQueries(directory: Directory, when: string): Promise<void> {
  const cases: readonly [string, QueryParameters][] = [
    ["page by score", {}],
    ["one filter that all but one fail", { max_price_usd: "0.000001", sort: "payers" }],
    ["filter against the sort order", { min_uptime: 0.5, sort: "uptime", order: "asc" }],
    ["filtered, sorted page", { min_score: 50, max_price_usd: "0.3", min_uptime: 0.5, sort: "latency" }],
    ["page of one payee", { payee: `0x${(4711).toString(16).padStart(40, "0")}` }],
    ["two-word search", { q: "weather reliable" }],
    ["two-word search of a short beginning", { q: "service a", sort: "price" }],
    ["search of the commonest word", { q: "example" }],
  ];
  for (const [name, parameters] of cases) {
    const times: number[] = [];
    let total = 0;
    let longest = { ms: 0, waitedMs: 0 };
    for (let turn = 0; turn < 60; turn++) {
      const waitedMs = mainThreadWaitedMs();
      const startedMs = performance.now();
      const snapshot = directory.view()?.snapshot;
      if (snapshot === undefined) throw new Error("no snapshot");
      const matches = findMatches(snapshot, queryOf(parameters), 0, 50);
      joinListings(snapshot, matches.rows, "[", "]");
      const ms = performance.now() - startedMs;
      times.push(ms);
      if (ms > longest.ms) longest = { ms, waitedMs: mainThreadWaitedMs() - waitedMs };
      total = matches.total;
      await Bun.sleep(0);
    }
    const bound = parameters.q === undefined ? LONGEST_PAGE : LONGEST_SEARCH;
    const waited = `${longest.waitedMs.toFixed(2)} ms of the longest in wait for a core`;
    say(`${name}${when}`, `${total} matches, ${spread(times, bound)}, ${waited}`);
  }
}

type Gap = {
  /** The longest time in which the main thread took no other work. */
  readonly gapMs: number;
  /** How much of it the thread itself was at work, the rest being spent in wait for a core. */
  readonly busyMs: number;
  readonly tookMs: number;
};

async function longestGap(work: () => Promise<unknown>): Promise<Gap> {
  let last = performance.now();
  let lastBusyMs = mainThreadBusyMs();
  let gapMs = 0;
  let busyMs = 0;
  const timer = setInterval(() => {
    const [now, busy] = [performance.now(), mainThreadBusyMs()];
    gapMs = Math.max(gapMs, now - last - 1);
    busyMs = Math.max(busyMs, busy - lastBusyMs);
    [last, lastBusyMs] = [now, busy];
  }, 1);
  const startedMs = performance.now();
  await work();
  await Bun.sleep(5);
  clearInterval(timer);
  return { gapMs, busyMs, tookMs: performance.now() - startedMs };
}

/** How long the main thread was ready to go on and had no core. */
function mainThreadWaitedMs(): number {
  const [, waited = "0"] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(waited) / 1e6;
}

/** CPU time of the main thread as Linux counts it. */
function mainThreadBusyMs(): number {
  const [ran = "0"] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(ran) / 1e6;
}

function gapText({ gapMs, busyMs }: Gap): string {
  const figures = `main thread blocked ${gapMs.toFixed(1)} ms at most, ${busyMs.toFixed(1)} ms of its own work`;
  return `${figures}: ${verdict(gapMs, BLOCKED_MS_MAX, "ms")}`;
}

function say(name: string, figures: string): void {
  process.stdout.write(`${name}: ${figures}\n`);
}
