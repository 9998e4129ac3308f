import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/caller.ts";
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
/** A sync takes some 20 ms. */
const KILL_MS_MAX = 60;
const SYNC_PROCESS = join(import.meta.dir, "../support/directory-sync-process.ts");

function digestOf(records: readonly { readonly host: string }[]): string {
  const sorted = [...records].sort((a, b) => (a.host < b.host ? -1 : 1));
  return createHash("sha256").update(lines(sorted)).digest("hex");
}

/** Kills a process at a random moment after at least `linesMin` lines of output; returns all of its output. */
async function linesUntilKilled(
  child: Bun.Subprocess<"ignore", "pipe", "inherit">,
  linesMin: number,
): Promise<readonly string[]> {
  const decoder = new TextDecoder();
  let said = "";
  let isKilling = false;
  for await (const part of child.stdout) {
    said += decoder.decode(part, { stream: true });
    if (isKilling || said.split("\n").length <= linesMin) continue;
    isKilling = true;
    setTimeout(() => child.kill("SIGKILL"), Math.random() * KILL_MS_MAX);
  }
  await child.exited;
  return said.split("\n").filter((line) => line !== "");
}

test(`a process that is killed at random moments of its syncs ${KILLS} times always restarts with a complete state`, async () => {
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
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    // The first must get to its end once; the others die anywhere in the sync after the line that is waited for.
    const spoken = await linesUntilKilled(child, kill === 0 ? 2 : 1 + (kill % 3));
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

test("two servers: what changes at one is seen at the other, which survives it", async () => {
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
  const syncsOfSecond = async () => {
    const text = await (await fetch(`${second.url}/metrics`)).text();
    const counts = [...text.matchAll(/^assay_directory_syncs_total\{.*\} (\d+)$/gm)];
    return counts.reduce((total, [, count]) => total + Number(count), 0);
  };
  /** Returns after how many syncs the other server had not followed yet. */
  const seen = async (expected: string): Promise<number> => {
    const before = await syncsOfSecond();
    let syncs = before;
    await until("change at the other server", async () => {
      const done = await syncsOfSecond();
      const isSeen = (await exportOf(second.url)) === expected;
      if (!isSeen) syncs = done;
      return isSeen;
    });
    return syncs - before;
  };
  try {
    await seen(lines(records));
    const changed = listing(3, (record) => {
      record.description = "Changed at the first server";
    });
    const next = [
      ...records.filter(({ host }) => host !== changed.host && host !== listing(4).host),
      changed,
      listing(90),
    ];
    next.sort((a, b) => (a.host < b.host ? -1 : 1));
    // Whole at once, as it may be read at any moment.
    writeFileSync(`${file}.new`, lines(next));
    renameSync(`${file}.new`, file);
    await until("change at the first server", async () => (await exportOf(first.url)) === lines(next));
    // One may have been under way.
    expect(await seen(lines(next))).toBeLessThanOrEqual(1);
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
    type Page = { snapshot: { stale: boolean }; listings: unknown[] };
    const page = async () => jsonOf<Page>(await fetch(`${second.url}/v1/directory?limit=200`));
    await until("stale snapshot", async () => (await page()).snapshot.stale);
    expect((await page()).listings).toHaveLength(50);
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
