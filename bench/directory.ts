/**
 * The directory at 80,000 listings: how long syncs block the main thread, how quickly pages are found, what it
 * costs in memory. Run `bun bench/directory.ts`; it takes about a minute and prints its figures. `--quick` takes a
 * tenth of the listings, to see that all works.
 */
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { createDirectory, type Directory } from "../src/directory/directory.ts";
import { joinListings } from "../src/directory/snapshot/listing-texts.ts";
import { findMatches } from "../src/directory/snapshot/matches.ts";
import { type QueryParameters, queryOf } from "../src/directory/snapshot/query.ts";
import { createSyncThread } from "../src/directory/sync/sync-thread.ts";
import { systemClock } from "../src/platform/clock.ts";
import { LONGEST_PAGE, LONGEST_SEARCH, MEGABYTE, SETTLE_MS } from "./directory/bounds.ts";
import { say, spread } from "./directory/figures.ts";
import { gapText, longestGap, mainThreadWaitedMs } from "./directory/main-thread.ts";
import { measureServer } from "./directory/server.ts";
import { openBenchFolder } from "./folder.ts";

await main();

async function main(): Promise<void> {
  say("machine", `${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Bun ${Bun.version}`);
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "directory/upstream.ts"), ...process.argv.slice(2)],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  using folder = openBenchFolder("bench-directory");
  try {
    const reader = child.stdout.getReader();
    const url = new TextDecoder().decode((await reader.read()).value).trim();
    await measure(url, join(folder.path, "part"));
    await measureServer(url, join(folder.path, "server"));
  } finally {
    child.kill();
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
