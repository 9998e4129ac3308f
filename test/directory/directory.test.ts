import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createDirectory, type DirectoryEvent } from "../../src/directory/directory.ts";
import { findMatches } from "../../src/directory/snapshot/matches.ts";
import { queryOf } from "../../src/directory/snapshot/query.ts";
import { findHost, rowBytes } from "../../src/directory/snapshot/snapshot.ts";
import { createSyncThread } from "../../src/directory/sync/sync-thread.ts";
import type { Syncer, SyncSettings } from "../../src/directory/sync/syncer.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { listing, listings, openSyncer, startUpstream, testClock } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";

const INTERVAL_MS = 60_000;

/** A directory whose syncs happen when the test says so. */
async function openDirectory(count = 50, options: { acceptNextSnapshot?: boolean } = {}) {
  const upstream = startUpstream(listings(count));
  const folder = temporaryFolder("directory");
  const clock = testClock();
  const events: DirectoryEvent[] = [];
  const directory = createDirectory({
    settings: { upstream: upstream.url, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false, ...options },
    syncer: openSyncer({ folder: folder.path, upstream: upstream.url }, { clock }),
    clock,
    random: () => 0.5,
    wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    report: (event) => events.push(event),
  });
  await directory.start();
  return {
    upstream,
    clock,
    directory,
    events,
    folder,
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]();
      upstream[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("health", () => {
  test("is degraded before the first snapshot, with the reason", async () => {
    await using opened = await openDirectory();
    const { directory, upstream } = opened;
    expect(directory.view()).toBeNull();
    expect(directory.status()).toMatchObject({ status: "warn", ageSeconds: null });
    upstream.intercept = () => new Response("", { status: 500 });
    await directory.sync();
    expect(directory.status().output).toContain("answers 500");
    upstream.intercept = () => undefined;
    await directory.sync();
    expect(directory.status()).toEqual({ status: "pass", ageSeconds: 0, output: null });
  });

  test("never names a path, a host or an address; the log does", async () => {
    using folder = temporaryFolder("private");
    const path = `${folder.path}/listings.ndjson`;
    const secrets: readonly [Partial<SyncSettings>, string, string][] = [
      [{ file: path }, `${path} cannot be read (ENOENT)`, "the file cannot be read (ENOENT)"],
      [{ file: folder.path }, `${folder.path} cannot be read (EISDIR)`, "the file cannot be read (EISDIR)"],
      [
        { upstream: "http://127.0.0.1:1" },
        "no connection to 127.0.0.1:1 (ECONNREFUSED)",
        "no connection (ECONNREFUSED)",
      ],
      [
        { upstream: "http://inner.example", allowPrivateUpstream: false },
        "inner.example has the private address 127.0.0.1; DIRECTORY_ALLOW_PRIVATE permits that",
        "the upstream has a private address; DIRECTORY_ALLOW_PRIVATE permits that",
      ],
    ];
    for (const [settings, logged, shown] of secrets) {
      const events: DirectoryEvent[] = [];
      await using directory = createDirectory({
        settings: { upstream: null, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
        syncer: openSyncer({ folder: `${folder.path}/state`, ...settings }),
        clock: testClock(),
        random: () => 0.5,
        wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
        report: (event) => events.push(event),
      });
      await directory.sync();
      expect(directory.status().output).toBe(`No snapshot yet. Last sync: ${shown}.`);
      expect(events).toContainEqual({ level: "warn", message: "sync failed", reason: logged });
    }
  });

  test("names the stored file that is damaged without its path", async () => {
    await using first = await openDirectory();
    await first.directory.sync();
    for (const name of readdirSync(first.folder.path).filter((file) => file.startsWith("base-")))
      rmSync(join(first.folder.path, name));
    await using directory = createDirectory({
      settings: { upstream: first.upstream.url, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
      syncer: openSyncer({ folder: first.folder.path, upstream: first.upstream.url }),
      clock: first.clock,
      random: () => 0.5,
      wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    });
    first.upstream.intercept = () => new Response("", { status: 500 });
    await directory.start();
    expect(directory.status().output).toStartWith(
      "The stored state was damaged: current.json: it cannot be read (ENOENT).",
    );
  });

  test("passes for three intervals without the upstream; then it is degraded and the view stale", async () => {
    await using opened = await openDirectory();
    const { directory, upstream, clock } = opened;
    await directory.sync();
    upstream.intercept = () => new Response("", { status: 503 });
    clock.advance(3 * INTERVAL_MS);
    await directory.sync();
    expect(directory.status()).toMatchObject({ status: "pass", ageSeconds: 180 });
    clock.advance(1000);
    expect(directory.view()).toMatchObject({ stale: true, ageSeconds: 181 });
    expect(directory.status()).toMatchObject({
      status: "warn",
      output: expect.stringContaining("answers 503"),
    });
    upstream.intercept = () => undefined;
    await directory.sync();
    expect(directory.view()).toMatchObject({ stale: false, ageSeconds: 0 });
    expect(directory.status().status).toBe("pass");
  });

  test("adds up the age over all directories that the listings passed through", async () => {
    await using opened = await openDirectory();
    const { directory, upstream, clock } = opened;
    upstream.ageSeconds = 40;
    await directory.sync();
    clock.advance(2000);
    expect(directory.view()?.ageSeconds).toBe(42);
  });

  test("is degraded while a breaker is tripped, with the reason", async () => {
    await using opened = await openDirectory();
    const { directory, upstream, events } = opened;
    await directory.sync();
    for (let n = 0; n < 40; n++) upstream.remove(listing(n).host);
    expect(await directory.sync()).toMatchObject({ kind: "refused" });
    expect(directory.status()).toMatchObject({
      status: "warn",
      output: expect.stringContaining("40 of 50 listings"),
    });
    expect(directory.view()?.snapshot.count).toBe(50);
    expect(directory.stats()).toMatchObject({ version: 1, listings: 50, syncs: { changed: 1, refused: 1 } });
    expect(events.at(-1)).toMatchObject({ level: "warn", message: "sync refused" });
    for (let n = 0; n < 40; n++) upstream.put(listing(n));
    await directory.sync();
    expect(directory.status().status).toBe("pass");
  });
});

test("the operator's permission holds for the first sync that succeeds, and for none after it", async () => {
  await using first = await openDirectory();
  await first.directory.sync();
  for (let n = 0; n < 40; n++) first.upstream.remove(listing(n).host);
  const again = createDirectory({
    settings: { upstream: first.upstream.url, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: true },
    syncer: openSyncer({ folder: first.folder.path, upstream: first.upstream.url }, { clock: first.clock }),
    clock: first.clock,
    random: () => 0.5,
    wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  });
  await again.start();
  first.upstream.intercept = () => new Response("", { status: 500 });
  expect(await again.sync()).toMatchObject({ kind: "failed" });
  first.upstream.intercept = () => undefined;
  expect(await again.sync()).toMatchObject({ kind: "changed" });
  for (let n = 40; n < 50; n++) first.upstream.remove(listing(n).host);
  expect(await again.sync()).toMatchObject({ kind: "refused" });
  await again[Symbol.asyncDispose]();
});

test("concurrent callers share one sync", async () => {
  await using opened = await openDirectory();
  const { directory, upstream } = opened;
  const outcomes = await Promise.all([directory.sync(), directory.sync(), directory.sync()]);
  expect(new Set(outcomes).size).toBe(1);
  expect(upstream.requests).toHaveLength(1);
});

test("a walk over all pages during ten swaps has no gap and no duplicate", async () => {
  await using opened = await openDirectory(400);
  const { directory, upstream } = opened;
  await directory.sync();
  // A walker begins before each swap and takes a page after each one, as long as its snapshot is kept.
  const query = queryOf({ sort: "latency" });
  type Walk = { version: number; digest: string; place: number | null; hosts: string[]; expected: string[] };
  const walks: Walk[] = [];
  const step = (walk: Walk): boolean => {
    const view = directory.viewOf(walk.version, walk.digest);
    if (view === null || walk.place === null) return false;
    const { rows, nextPlace } = findMatches(view.snapshot, query, walk.place, 150);
    for (const row of rows)
      walk.hosts.push(JSON.parse(new TextDecoder().decode(rowBytes(view.snapshot, row))).host);
    walk.place = nextPlace;
    return true;
  };
  for (let swap = 0; swap < 10; swap++) {
    const view = directory.view();
    if (view === null) throw new Error("no view");
    const { version, digest } = view.snapshot;
    walks.push({
      version,
      digest: digest.slice(0, 8),
      place: 0,
      hosts: [],
      expected: [...upstream.records.keys()].sort(),
    });
    for (const walk of walks) step(walk);
    for (let n = 0; n < 30; n++)
      upstream.put(
        listing((swap * 37 + n) % 400, (record) => {
          record.evidence.median_latency_ms = swap * 100 + n;
        }),
      );
    upstream.remove(listing(swap).host);
    upstream.put(listing(1000 + swap));
    expect(await directory.sync()).toMatchObject({ kind: "changed" });
  }
  for (let turn = 0; turn < 3; turn++) for (const walk of walks) step(walk);
  for (const walk of walks) {
    // A page after each of two swaps, the rest on the last: every walk has ended on its own snapshot.
    expect(walk.place).toBeNull();
    expect(walk.hosts).toHaveLength(400);
    expect([...walk.hosts].sort()).toEqual(walk.expected);
  }
  const [oldest] = walks;
  expect(directory.viewOf(oldest?.version ?? 0, oldest?.digest ?? "")).toBeNull();
  expect(directory.viewOf(directory.view()?.snapshot.version ?? 0, "00000000")).toBeNull();
});

test("a state that was committed before the sync side crashed is served after the next sync", async () => {
  using upstream = startUpstream(listings(20));
  using folder = temporaryFolder("lost");
  const clock = testClock();
  const open = () => openSyncer({ folder: folder.path, upstream: upstream.url }, { clock });
  let inner = open();
  let breaksDown = false;
  const syncer: Syncer = {
    ...inner,
    open: () => inner.open(),
    async sync(options) {
      const outcome = await inner.sync(options);
      if (!breaksDown) return outcome;
      breaksDown = false;
      inner = open();
      throw new Error("the sync thread ended");
    },
  };
  const directory = createDirectory({
    settings: { upstream: upstream.url, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
    syncer,
    clock,
    random: () => 0.5,
  });
  await directory.sync();
  upstream.put(listing(100));
  breaksDown = true;
  expect(await directory.sync()).toMatchObject({ kind: "failed", reason: "the sync thread ended" });
  expect(directory.view()?.snapshot.version).toBe(1);
  expect(await directory.sync()).toMatchObject({ kind: "unchanged" });
  expect(directory.view()?.snapshot).toMatchObject({ version: 2, count: 21 });
  await directory[Symbol.asyncDispose]();
});

describe("the sync thread", () => {
  const workerFile = new URL("../../workers/directory-sync.ts", import.meta.url).href;
  const settings = { upstream: null, file: null, allowPrivateUpstream: false, allowRedirects: false };

  test("transfers a snapshot that the main thread reads in place", async () => {
    using folder = temporaryFolder("thread");
    await using syncer: Syncer = createSyncThread({
      workerFile,
      settings: { ...settings, folder: folder.path },
    });
    expect(await syncer.open()).toMatchObject({ published: null });
    const outcome = await syncer.sync({ acceptTripped: false });
    if (outcome.kind !== "changed") throw new Error(JSON.stringify(outcome));
    const { snapshot } = outcome.published;
    expect(snapshot.segments[0]?.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(findHost(snapshot, "scan.example")).toBeGreaterThanOrEqual(0);
    expect(Buffer.from((await syncer.gzip(1, "ndjson")) ?? []).length).toBeGreaterThan(100);
    expect(await syncer.gzip(2, "ndjson")).toBeNull();
  });

  test("fails the pending call when it is closed, and every later one", async () => {
    using folder = temporaryFolder("thread");
    const syncer = createSyncThread({ workerFile, settings: { ...settings, folder: folder.path } });
    const opening = syncer.open();
    await syncer[Symbol.asyncDispose]();
    await expect(opening).rejects.toThrow("closed");
    await expect(syncer.open()).rejects.toThrow("closed");
  });

  test("that cannot start is a failed sync, and is started again by the next one", async () => {
    const directory = createDirectory({
      settings: { upstream: "http://127.0.0.1:1", syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
      syncer: createSyncThread({
        workerFile: "file:///nowhere/at-all.ts",
        settings: { ...settings, folder: "/tmp" },
      }),
      clock: systemClock,
      random: () => 0.5,
    });
    expect(await directory.sync()).toMatchObject({ kind: "failed" });
    expect(await directory.sync()).toMatchObject({ kind: "failed" });
    await directory[Symbol.asyncDispose]();
  });

  test("a shutdown during the start or a sync is no failure, and nothing starts after it", async () => {
    using folder = temporaryFolder("ended");
    const events: DirectoryEvent[] = [];
    let waits = 0;
    const directory = createDirectory({
      settings: { upstream: null, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
      syncer: createSyncThread({ workerFile, settings: { ...settings, folder: folder.path } }),
      clock: systemClock,
      random: () => 0.5,
      wait: async () => {
        waits += 1;
      },
      report: (event) => events.push(event),
    });
    const started = directory.start();
    const synced = directory.sync();
    await directory[Symbol.asyncDispose]();
    await Promise.all([started, synced]);
    expect([events, waits]).toEqual([[], 0]);
  });

  test("a folder that cannot be opened at the start is opened by the schedule once it can be", async () => {
    using folder = temporaryFolder("occupied");
    const path = join(folder.path, "directory");
    writeFileSync(path, "");
    const events: DirectoryEvent[] = [];
    let waiting = Promise.withResolvers<() => void>();
    const directory = createDirectory({
      settings: { upstream: null, syncIntervalMs: INTERVAL_MS, acceptNextSnapshot: false },
      syncer: createSyncThread({ workerFile, settings: { ...settings, folder: path } }),
      clock: systemClock,
      random: () => 0.5,
      wait: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve());
          waiting.resolve(resolve);
        }),
      report: (event) => events.push(event),
    });
    await using _ = directory;
    /** Lets the schedule sync once. */
    const syncOnce = async () => {
      const go = await waiting.promise;
      waiting = Promise.withResolvers();
      go();
      await waiting.promise;
    };
    await directory.start();
    expect(directory.view()).toBeNull();
    expect(events).toEqual([
      {
        level: "error",
        message: "the stored state cannot be opened",
        reason: expect.stringContaining("EEXIST"),
      },
    ]);
    await syncOnce();
    expect(directory.status().output).toBe("No snapshot yet. Last sync: the stored state cannot be opened.");
    rmSync(path);
    await syncOnce();
    expect(directory.view()?.snapshot.version).toBe(1);
    expect(directory.status()).toMatchObject({ status: "pass" });
  });

  test("reports a folder that cannot be written as an error of the start", async () => {
    await using syncer = createSyncThread({
      workerFile,
      settings: { ...settings, folder: "/dev/null/directory" },
    });
    await expect(syncer.open()).rejects.toThrow("ENOTDIR");
  });
});
