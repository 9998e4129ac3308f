import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  fstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createDirectory } from "../../src/directory/directory.ts";
import { exportParts } from "../../src/directory/export.ts";
import { gatherListings } from "../../src/directory/snapshot/listing-texts.ts";
import { findMatches } from "../../src/directory/snapshot/matches.ts";
import { queryOf } from "../../src/directory/snapshot/query.ts";
import { areInMemory, findHost, rowBytes, type Snapshot } from "../../src/directory/snapshot/snapshot.ts";
import { createSyncer } from "../../src/directory/sync/sync-dependencies.ts";
import { createSyncEngine } from "../../src/directory/sync/sync-engine.ts";
import { createSyncThread } from "../../src/directory/sync/sync-thread.ts";
import { createTextSource } from "../../src/directory/upstream/source.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { lines, listing, type TestListing } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";
import { canMountDisks, mountSmallDisk } from "../support/small-disk.ts";

/** More text than one segment holds, so that former snapshots' texts go to a file: few listings, each a long one. */
const LISTINGS = 1000;
const LONG_WORD = "x".repeat(6000);
const SORT = { sort: "payers", min_score: 10 } as const;

function longListing(n: number, change: (record: TestListing) => void): TestListing {
  return listing(n, (record) => {
    record.description += ` ${LONG_WORD}`;
    change(record);
  });
}

/** Every listing, each with another measure in every edition. */
function edition(number: number): TestListing[] {
  return Array.from({ length: LISTINGS }, (_, n) =>
    longListing(n, (record) => {
      record.evidence.probes_30d = 1000 + number;
      record.evidence.payers_30d = (n * 5 + number * 31) % 400;
    }),
  );
}

/** Leaves some listings in every file of texts, each of which then holds little but dead text. */
function changeMost(records: TestListing[], turn: number): void {
  for (let n = turn * 22; n < LISTINGS; n++) {
    records[n] = longListing(n, (record) => {
      record.description += ` edition ${turn}`;
    });
  }
}

/** A directory over the real sync thread, whose source is a file. */
async function openThreaded(workerFile = "../../workers/directory-sync.ts") {
  const folder = temporaryFolder("former");
  const file = join(folder.path, "listings.ndjson");
  const path = join(folder.path, "directory");
  const directory = createDirectory({
    settings: { upstream: "file", syncIntervalMs: 3_600_000, acceptNextSnapshot: false },
    syncer: createSyncThread({
      workerFile: new URL(workerFile, import.meta.url).href,
      settings: { upstream: null, file, allowPrivateUpstream: false, allowRedirects: false, folder: path },
    }),
    clock: systemClock,
    random: () => 0.5,
    wait: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  });
  let turns = 0;
  return {
    directory,
    path,
    async take(records: readonly TestListing[]): Promise<Snapshot> {
      turns += 1;
      writeFileSync(file, lines(records) + "\n".repeat(turns));
      expect(await directory.sync()).toMatchObject({ kind: "changed" });
      const snapshot = directory.view()?.snapshot;
      if (snapshot === undefined) throw new Error("no snapshot");
      return snapshot;
    },
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

function allRows(snapshot: Snapshot): number[] {
  return Array.from({ length: snapshot.count }, (_, row) => row);
}

function digestOfParts(parts: Iterable<Uint8Array>): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function pageOf(snapshot: Snapshot, place: number, limit: number) {
  const { rows, nextPlace, total } = findMatches(snapshot, queryOf(SORT), place, limit);
  const listings = JSON.parse(new TextDecoder().decode(await gatherListings(snapshot, rows, "[", "]")));
  return { listings: listings as TestListing[], nextPlace, total };
}

describe("former snapshots", () => {
  test("are read from their file byte for byte while the newest one is in memory", async () => {
    await using opened = await openThreaded();
    const snapshots: Snapshot[] = [];
    for (let number = 0; number < 4; number++) {
      snapshots.push(await opened.take(edition(number)));
      expect(readdirSync(opened.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    }
    const newest = snapshots.at(-1);
    for (const snapshot of snapshots) {
      expect(areInMemory(snapshot, allRows(snapshot))).toBe(snapshot === newest);
      expect(digestOfParts(exportParts(snapshot, "ndjson"))).toBe(snapshot.digest);
    }
    const held = snapshots.map(({ segments }) => segments.reduce((sum, { length }) => sum + length, 0));
    expect(held.slice(0, -1)).toEqual([0, 0, 0]);
  }, 120_000);

  test("read page by page through swaps that change every listing have no gap, no duplicate and no mixture", async () => {
    await using opened = await openThreaded();
    type Walk = { snapshot: Snapshot; probes: number; place: number | null; hosts: string[] };
    const walks: Walk[] = [];
    const step = async (walk: Walk) => {
      const view = opened.directory.viewOf(walk.snapshot.version, walk.snapshot.digest.slice(0, 8));
      if (view === null || walk.place === null) return;
      const page = await pageOf(view.snapshot, walk.place, 300);
      walk.place = page.nextPlace;
      for (const record of page.listings) {
        expect(record.evidence.probes_30d).toBe(walk.probes);
        walk.hosts.push(record.host);
      }
    };
    for (let number = 0; number < 5; number++) {
      const snapshot = await opened.take(edition(number));
      walks.push({ snapshot, probes: 1000 + number, place: 0, hosts: [] });
      for (const walk of walks) await step(walk);
    }
    for (let turn = 0; turn < 4; turn++) for (const walk of walks) await step(walk);
    const expected = edition(0).filter(({ score }) => score >= 10);
    for (const walk of walks.slice(-3)) {
      expect(walk.place).toBeNull();
      expect(walk.hosts).toHaveLength(expected.length);
      expect(new Set(walk.hosts).size).toBe(expected.length);
    }
  }, 120_000);

  test("complete an export or a page that began before the swap", async () => {
    await using opened = await openThreaded();
    const before = await opened.take(edition(0));
    const parts = exportParts(before, "ndjson");
    const hash = createHash("sha256");
    for (let part = 0; part < 3; part++) hash.update(parts.next().value ?? new Uint8Array());
    const compressed = opened.directory.compressed(before, "ndjson");
    const page = pageOf(before, 0, 200);
    await opened.take(edition(1));
    for (const part of parts) hash.update(part);
    expect(hash.digest("hex")).toBe(before.digest);
    expect(new Set((await page).listings.map(({ evidence }) => evidence.probes_30d))).toEqual(
      new Set([1000]),
    );
    const body = await compressed;
    expect(body).not.toBeNull();
    expect(digestOfParts([gunzipSync(body ?? new Uint8Array())])).toBe(before.digest);
  }, 120_000);

  test("share unchanged texts in memory, and lose their index when they are dropped", async () => {
    await using opened = await openThreaded();
    const first = await opened.take(edition(0));
    const records = edition(0);
    for (let turn = 1; turn <= 3; turn++) {
      records[turn] = listing(turn, (record) => {
        record.description = `edition ${turn}`;
      });
      await opened.take(records);
    }
    expect(areInMemory(first, allRows(first))).toBe(true);
    expect(digestOfParts(exportParts(first, "ndjson"))).toBe(first.digest);
    expect(opened.directory.viewOf(first.version, first.digest.slice(0, 8))).toBeNull();
    expect(() => findMatches(first, queryOf({}), 0, 10)).toThrow("given up");
    expect(() => findHost(first, "service-00001.example")).toThrow("given up");
    const newest = opened.directory.view()?.snapshot;
    if (newest === undefined) throw new Error("no snapshot");
    const row = findHost(newest, "service-00002.example");
    expect(new TextDecoder().decode(rowBytes(newest, row))).toContain('"edition 2"');
  }, 120_000);

  test("stay complete however often their texts are compacted", async () => {
    await using opened = await openThreaded();
    const records = edition(0);
    const snapshots = [await opened.take(records)];
    for (let turn = 1; turn <= 8; turn++) {
      changeMost(records, turn);
      snapshots.push(await opened.take(records));
      for (const snapshot of snapshots.slice(-3)) {
        expect(digestOfParts(exportParts(snapshot, "ndjson"))).toBe(snapshot.digest);
      }
    }
  }, 120_000);
});

test("the file of a thread that has ended is closed with its last snapshot", async () => {
  await using opened = await openThreaded("../support/ending-sync-worker.ts");
  const isOpen = (inode: number) =>
    spoolsOf(opened.path).some((descriptor) => fstatSync(Number(descriptor)).ino === inode);
  /** In a function of its own, so that nothing here holds the snapshot afterwards. */
  const outliveThread = async () => {
    const snapshot = await opened.take(edition(0));
    expect(await opened.directory.compressed(snapshot, "ndjson")).toBeNull();
    await opened.take(edition(1));
    expect(digestOfParts(exportParts(snapshot, "ndjson"))).toBe(snapshot.digest);
    return fstatSync(snapshot.segmentFiles[0]?.descriptor ?? -1).ino;
  };
  const inode = await outliveThread();
  expect(isOpen(inode)).toBe(true);
  for (let number = 2; number < 5; number++) await opened.take(edition(number));
  // The one that was compressed last is held for it.
  await opened.directory.compressed(await opened.take(edition(5)), "ndjson");
  for (let turn = 0; turn < 100 && isOpen(inode); turn++) {
    await new Promise(setImmediate);
    Bun.gc(true);
  }
  expect(isOpen(inode)).toBe(false);
}, 120_000);

test("a restart loads a large directory from base and log into memory, byte for byte", async () => {
  await using opened = await openThreaded();
  const records = edition(0);
  await opened.take(records);
  for (let n = 0; n < LISTINGS; n += 4) {
    records[n] = longListing(n, (record) => {
      record.description += ` edition 1, ${"ünïcode ".repeat(n % 9)}`;
    });
  }
  const before = await opened.take(records);
  await using again = createSyncThread({
    workerFile: new URL("../../workers/directory-sync.ts", import.meta.url).href,
    settings: {
      upstream: null,
      file: join(opened.path, "../listings.ndjson"),
      allowPrivateUpstream: false,
      allowRedirects: false,
      folder: opened.path,
    },
  });
  const { published, problems } = await again.open();
  if (published === null) throw new Error(problems.map(({ reason }) => reason).join());
  const { snapshot } = published;
  expect(problems).toEqual([]);
  expect(snapshot).toMatchObject({ version: before.version, digest: before.digest, count: LISTINGS });
  expect(areInMemory(snapshot, allRows(snapshot))).toBe(true);
  expect(digestOfParts(exportParts(snapshot, "ndjson"))).toBe(before.digest);
}, 120_000);

/** The sync side in this thread, with what is given up and the spools that are open. */
function openUnthreaded(folder: string) {
  const path = join(folder, "d");
  const file = join(folder, "listings.ndjson");
  const retired: number[][] = [];
  const start = () =>
    createSyncer(
      { upstream: null, file, allowPrivateUpstream: false, allowRedirects: false, folder: path },
      {
        lookUp: async () => ({ ok: false, reason: "dns_not_found" }),
        clock: systemClock,
        newId: () => crypto.randomUUID().replaceAll("-", ""),
        retire: async (segmentIds) => void retired.push([...segmentIds]),
      },
    );
  const syncer = start();
  let turns = 0;
  return {
    syncer,
    retired,
    restart: start,
    spools: () => spoolsOf(path),
    async take(text: string) {
      turns += 1;
      writeFileSync(file, text + "\n".repeat(turns));
      const outcome = await syncer.sync({ acceptTripped: false });
      return outcome.kind === "changed" ? outcome.published.snapshot : outcome.kind;
    },
  };
}

/** Descriptors of the files without a name that were made in a folder. */
function spoolsOf(folder: string): string[] {
  return readdirSync("/proc/self/fd").filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).includes(`${folder}/rows.tmp`);
    } catch {
      return false;
    }
  });
}

function isWhole(snapshot: Snapshot | string): boolean {
  if (typeof snapshot === "string") throw new Error(snapshot);
  return digestOfParts(exportParts(snapshot, "ndjson")) === snapshot.digest;
}

test("a refused or failed sync leaves no file open, and the memory of the last good state unchanged", async () => {
  using folder = temporaryFolder("spool");
  const { take, spools, retired } = openUnthreaded(folder.path);
  const snapshot = await take(lines(edition(0)));
  if (typeof snapshot === "string") throw new Error(snapshot);
  expect(spools()).toHaveLength(1);
  const paid = edition(1).map((record, n) => ({
    ...record,
    evidence: { ...record.evidence, pay_to: listing(n + LISTINGS).evidence.pay_to },
  }));
  expect(await take(lines(paid))).toBe("refused");
  expect(await take(`[${lines(edition(2)).trimEnd().replaceAll("\n", ",")}`)).toBe("failed");
  expect(spools()).toHaveLength(1);
  expect(retired).toEqual([]);
  expect(areInMemory(snapshot, allRows(snapshot))).toBe(true);
  expect(isWhole(snapshot)).toBe(true);
});

test("a file is closed once no snapshot uses it, however often texts are compacted", async () => {
  using folder = temporaryFolder("spool");
  const { take, spools, restart } = openUnthreaded(folder.path);
  const spokenOf = new Set<string>();
  const note = (snapshot: Snapshot | string | undefined) => {
    if (typeof snapshot !== "object") throw new Error(snapshot);
    for (const place of snapshot.segmentFiles) if (place !== null) spokenOf.add(`${place.descriptor}`);
  };
  const records = edition(0);
  note(await take(lines(records)));
  for (let turn = 1; turn <= 8; turn++) {
    changeMost(records, turn);
    note(await take(lines(records)));
    expect(new Set(spools())).toEqual(spokenOf);
  }
  note((await restart().open()).published?.snapshot);
  expect(new Set(spools())).toEqual(spokenOf);
}, 120_000);

test("an export that is compressed during several swaps contains one snapshot", async () => {
  using folder = temporaryFolder("spool");
  let records = edition(0);
  const syncer = createSyncEngine({
    folder: folder.path,
    // Read at one stroke, so that the swaps come before the compression is done.
    source: {
      name: "text",
      read: (_, base, parts) => createTextSource("text", lines(records)).read(null, base, parts),
    },
    clock: systemClock,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    retire: async () => {},
  });
  const take = async () => {
    const outcome = await syncer.sync({ acceptTripped: false });
    if (outcome.kind !== "changed") throw new Error(outcome.kind);
    return outcome.published.snapshot;
  };
  const first = await take();
  const compressed = syncer.gzip(first.version, "ndjson");
  records[0] = longListing(0, (record) => {
    record.description = "another";
  });
  await take();
  records = edition(1);
  await take();
  expect(digestOfParts([gunzipSync((await compressed) ?? new Uint8Array())])).toBe(first.digest);
}, 120_000);

test("texts stay in memory where no file can be created", async () => {
  using folder = temporaryFolder("spool");
  mkdirSync(join(folder.path, "d", "rows.tmp"), { recursive: true });
  const { take, spools, restart } = openUnthreaded(folder.path);
  const first = await take(lines(edition(0)));
  const second = await take(lines(edition(1)));
  const again = (await restart().open()).published?.snapshot ?? "nothing";
  expect([first, second, again].map(isWhole)).toEqual([true, true, true]);
  expect(spools()).toEqual([]);
}, 120_000);

/** What is written has the size of the texts three times: without a name, as changes, and as a whole. */
test.skipIf(!canMountDisks).each([0, 0.5, 1.5, 2.5])(
  "on a disk with room for %d of the three copies the last good state stays, across a restart too, and the space is freed",
  async (share) => {
    using disk = mountSmallDisk(64);
    const { take } = openUnthreaded(disk.path);
    const first = await take(lines(edition(0)));
    if (typeof first === "string") throw new Error(first);
    writeFileSync(join(disk.path, "next"), lines(edition(1)));
    renameSync(join(disk.path, "next"), join(disk.path, "listings.ndjson"));
    const room = join(disk.path, "room");
    writeFileSync(room, Buffer.alloc(share * first.bytes));
    disk.fill();
    const { syncer, restart, spools } = openUnthreaded(disk.path);
    const { published, problems } = await syncer.open();
    const snapshot = published?.snapshot ?? "nothing";
    expect(problems).toEqual([]);
    expect(isWhole(first) && isWhole(snapshot)).toBe(true);
    expect(snapshot).toMatchObject({ version: 1, digest: first.digest });

    rmSync(room);
    const left = () => [statfsSync(disk.path).bfree, spools()];
    const before = left();
    expect((await syncer.sync({ acceptTripped: false })).kind).toBe("failed");
    const after = left();
    // Changes that were written whole stay until the next sync writes over them.
    if (share < 2) expect(after).toEqual(before);
    expect((await syncer.sync({ acceptTripped: false })).kind).toBe("failed");
    expect(left()).toEqual(after);
    expect(readdirSync(join(disk.path, "d")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(isWhole(snapshot)).toBe(true);

    disk.free();
    expect((await syncer.sync({ acceptTripped: false })).kind).toBe("changed");
    expect((await restart().open()).published?.snapshot).toMatchObject({ version: 2 });
  },
  20_000,
);
