import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  lines,
  listing,
  listings,
  openSyncer,
  startUpstream,
  type TestListing,
  testClock,
} from "../support/directory.ts";
import { jsonOf } from "../support/json.ts";
import { startProcess, temporaryFolder } from "../support/process.ts";

const KILLS = 30;
const SYNC_PROCESS = join(import.meta.dir, "../support/directory-sync-process.ts");

function digestOf(records: readonly { readonly host: string }[]): string {
  const sorted = [...records].sort((a, b) => (a.host < b.host ? -1 : 1));
  return createHash("sha256").update(lines(sorted)).digest("hex");
}

test(`a process that is killed at random moments of its syncs ${KILLS} times always comes back whole`, async () => {
  using upstream = startUpstream(listings(2000));
  using folder = temporaryFolder("killed");
  const digests = new Set<string>();
  let turns = 0;
  upstream.intercept = () => {
    // Each request finds another state, so that each sync has something to write.
    for (let n = 0; n < 40; n++) {
      turns += 1;
      upstream.put(
        listing((turns * 53) % 2000, (record) => {
          record.score = turns % 101;
        }),
      );
    }
    digests.add(digestOf([...upstream.records.values()] as TestListing[]));
    return undefined;
  };
  let versionSeen = 0;
  let commits = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = Bun.spawn([process.execPath, SYNC_PROCESS, upstream.url, folder.path], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const said = new Response(child.stdout).text();
    // The first must get to its end once; the others die wherever they are.
    await Bun.sleep(kill === 0 ? 800 : 100 + Math.random() * 200);
    child.kill("SIGKILL");
    await child.exited;
    const spoken = (await said).split("\n").filter((line) => line !== "");
    expect(spoken.filter((line) => !/^(version \d+|opened \d+ )$/.test(line))).toEqual([]);
    const versions = spoken.map((line) => Number(line.split(" ")[1]));
    commits += spoken.filter((line) => line.startsWith("version")).length;
    versionSeen = Math.max(versionSeen, ...versions);
    const { published, problems } = await openSyncer(
      { folder: folder.path, upstream: upstream.url },
      { clock: testClock() },
    ).open();
    expect(problems).toEqual([]);
    expect(published?.snapshot.count).toBe(2000);
    expect(published?.snapshot.version).toBeGreaterThanOrEqual(versionSeen);
    expect(digests.has(published?.snapshot.digest ?? "")).toBe(true);
  }
  expect(commits).toBeGreaterThan(KILLS);
}, 60_000);

test("two servers: what changes at one is seen at the other, which outlives it", async () => {
  using folder = temporaryFolder("pair");
  const file = join(folder.path, "listings.ndjson");
  const records = listings(50);
  writeFileSync(file, lines(records));
  const first = await startProcess({
    DATA_DIR: join(folder.path, "a"),
    DIRECTORY_FILE: file,
    DIRECTORY_SYNC_SECONDS: "1",
  });
  const settings = {
    DATA_DIR: join(folder.path, "b"),
    DIRECTORY_UPSTREAM: first.url,
    DIRECTORY_ALLOW_PRIVATE: "true",
    DIRECTORY_SYNC_SECONDS: "1",
  };
  let second = await startProcess(settings);
  const exportOf = async (url: string) => {
    const reply = await fetch(`${url}/v1/directory/export`);
    return reply.ok ? reply.text() : "";
  };
  const seen = async (expected: string, deadlineMs: number): Promise<number> => {
    const startedMs = performance.now();
    while ((await exportOf(second.url)) !== expected) {
      if (performance.now() - startedMs > deadlineMs) throw new Error("The other server has not followed.");
      await Bun.sleep(20);
    }
    return performance.now() - startedMs;
  };
  try {
    await seen(lines(records), 3000);
    const changed = listing(3, (record) => {
      record.description = "Changed at the first server";
    });
    const next = [
      ...records.filter(({ host }) => host !== changed.host && host !== listing(4).host),
      changed,
      listing(90),
    ];
    next.sort((a, b) => (a.host < b.host ? -1 : 1));
    writeFileSync(file, lines(next));
    while ((await exportOf(first.url)) !== lines(next)) await Bun.sleep(10);
    // One interval of a second, its jitter of a fifth, and the work.
    expect(await seen(lines(next), 2000)).toBeLessThan(1700);
    const feed = await jsonOf<{ changes: { op: string; host: string }[] }>(
      await fetch(`${second.url}/v1/changes?limit=1000`),
    );
    expect(feed.changes.slice(50).map(({ op, host }) => `${op} ${host}`)).toEqual([
      `delete ${listing(4).host}`,
      `upsert ${changed.host}`,
      `upsert ${listing(90).host}`,
    ]);
    await first.end("SIGKILL");
    await second.end("SIGKILL");
    second = await startProcess(settings);
    expect(await exportOf(second.url)).toBe(lines(next));
    const staleAt = performance.now() + 6000;
    type Page = { snapshot: { stale: boolean }; listings: unknown[] };
    let page = await jsonOf<Page>(await fetch(`${second.url}/v1/directory?limit=200`));
    while (!page.snapshot.stale && performance.now() < staleAt) {
      await Bun.sleep(100);
      page = await jsonOf<Page>(await fetch(`${second.url}/v1/directory?limit=200`));
    }
    expect(page.snapshot.stale).toBe(true);
    expect(page.listings).toHaveLength(50);
    await Bun.sleep(1000);
    const health = await fetch(`${second.url}/health`);
    expect(health.status).toBe(200);
    expect(await jsonOf(health)).toMatchObject({
      status: "degraded",
      checks: { directory: { status: "warn", unit: "s", output: expect.stringContaining("stale") } },
    });
  } finally {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  }
}, 120_000);
