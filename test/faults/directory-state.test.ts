import { describe, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readChangePage } from "../../src/directory/change-page.ts";
import { rowBytes, type Snapshot } from "../../src/directory/snapshot/snapshot.ts";
import type { Opened, Published, Syncer } from "../../src/directory/sync/syncer.ts";
import { lines, listing, listings, openSyncer, testClock } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";

const CLOCK = testClock();

/** A folder whose directory comes from a file, for as many versions as there are steps. */
async function stored(steps: readonly (readonly unknown[])[]) {
  const folder = temporaryFolder("state");
  const file = join(folder.path, "listings.ndjson");
  const path = join(folder.path, "directory");
  const open = () => openSyncer({ folder: path, file }, { clock: CLOCK });
  let syncer: Syncer = open();
  let turns = 0;
  const take = async (records: readonly unknown[]) => {
    turns += 1;
    // A file of another size is another file, whatever its time.
    writeFileSync(file, lines(records) + "\n".repeat(turns));
    return syncer.sync({ acceptTripped: true });
  };
  for (const records of steps) await take(records);
  return {
    path,
    take,
    restart: async (): Promise<Opened> => {
      syncer = open();
      return syncer.open();
    },
    file: (prefix: string) => {
      const found = readdirSync(path)
        .filter((name) => name.startsWith(prefix))
        .sort();
      return join(path, found.at(-1) ?? "none");
    },
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

function textOf(snapshot: Snapshot): string {
  let text = "";
  for (let row = 0; row < snapshot.count; row++)
    text += `${new TextDecoder().decode(rowBytes(snapshot, row))}\n`;
  return text;
}

function publishedBy(opened: Opened): Published {
  if (opened.published === null)
    throw new Error(`Nothing was loaded: ${opened.problems.map(({ reason }) => reason).join()}`);
  return opened.published;
}

const BEFORE = listings(30);
const AFTER = [...listings(29), listing(50)];

describe("a restart", () => {
  test("serves the last state with its version, digest, feed and quarantine", async () => {
    using state = await stored([BEFORE, AFTER, [...AFTER, { host: "bad" }]]);
    const opened = await state.restart();
    const { snapshot, feed } = publishedBy(opened);
    expect(textOf(snapshot)).toBe(lines(AFTER));
    expect(snapshot).toMatchObject({ version: 2, count: 30, feed: { seq: 32 } });
    expect(feed.lastSeq).toBe(32);
    expect(opened.problems).toEqual([]);
    expect(opened.freshness).toMatchObject({ quarantined: 1, syncedAt: CLOCK.now() });
  });

  test("continues the versions and the sequence numbers", async () => {
    using state = await stored([BEFORE, AFTER]);
    await state.restart();
    const outcome = await state.take(BEFORE);
    expect(outcome).toMatchObject({
      kind: "changed",
      published: { snapshot: { version: 3 }, feed: { lastSeq: 34 } },
    });
  });

  test("ignores what was written after the last committed state", async () => {
    using state = await stored([BEFORE, AFTER]);
    appendFileSync(state.file("changes-"), '{"seq":33,"op":"delete","host":"service-00001.ex');
    writeFileSync(join(state.path, "base-3.ndjson.tmp"), "half a ba");
    writeFileSync(join(state.path, "current.json.tmp"), "half a sta");
    const { snapshot } = publishedBy(await state.restart());
    expect(textOf(snapshot)).toBe(lines(AFTER));
    await state.take(BEFORE);
    const { feed } = publishedBy(await state.restart());
    const page = await readChangePage(feed, 32, 100);
    const changes = JSON.parse(`[${Buffer.from(page.text)}]`);
    expect(changes.map((change: { seq: number; op: string }) => `${change.seq} ${change.op}`)).toEqual([
      "33 delete",
      "34 upsert",
    ]);
    expect(readdirSync(state.path).filter((name) => name.startsWith("base-3.ndjson.tmp"))).toEqual([]);
  });

  test("after a kill between the two state files serves the newest", async () => {
    using state = await stored([BEFORE, AFTER]);
    rmSync(join(state.path, "previous.json"));
    expect(textOf(publishedBy(await state.restart()).snapshot)).toBe(lines(AFTER));
    renameSync(join(state.path, "current.json"), join(state.path, "previous.json"));
    const opened = await state.restart();
    expect(textOf(publishedBy(opened).snapshot)).toBe(lines(AFTER));
    expect(opened.problems).toEqual([]);
  });
});

describe("a damaged file", () => {
  const flip = (path: string) => {
    const bytes = readFileSync(path);
    const at = bytes.indexOf("service-00007");
    bytes[at < 0 ? bytes.length >> 1 : at] = 0x78;
    writeFileSync(path, bytes);
  };
  const damages: readonly [string, (state: Awaited<ReturnType<typeof stored>>) => void][] = [
    ["a flipped byte in the listings", (state) => flip(state.file("base-"))],
    [
      "cut listings",
      (state) => writeFileSync(state.file("base-"), readFileSync(state.file("base-")).subarray(0, 5000)),
    ],
    ["missing listings", (state) => rmSync(state.file("base-"))],
    ["a flipped byte in the state", (state) => flip(join(state.path, "current.json"))],
    ["an empty state", (state) => writeFileSync(join(state.path, "current.json"), "")],
    [
      "another format",
      (state) => {
        const text = readFileSync(join(state.path, "current.json"), "utf8").replace(
          '"format":1',
          '"format":2',
        );
        writeFileSync(join(state.path, "current.json"), text);
      },
    ],
  ];
  test.each(damages)("(%s) leaves the version before to be served, in a new epoch", async (_, damage) => {
    using state = await stored([BEFORE, AFTER]);
    const { epoch } = publishedBy(await state.restart()).feed;
    damage(state);
    const opened = await state.restart();
    const { snapshot, feed } = publishedBy(opened);
    expect(textOf(snapshot)).toBe(lines(BEFORE));
    expect(opened.problems).toHaveLength(1);
    expect(feed.epoch).not.toBe(epoch);
    expect(feed.files).toEqual([]);
    expect(await state.take(AFTER)).toMatchObject({ kind: "changed" });
    const healed = await state.restart();
    expect(healed.problems).toEqual([]);
    expect(textOf(publishedBy(healed).snapshot)).toBe(lines(AFTER));
  });

  test("of both states serves nothing, and the next sync recovers it", async () => {
    using state = await stored([BEFORE, AFTER]);
    for (const name of readdirSync(state.path).filter((file) => file.startsWith("base-")))
      flip(join(state.path, name));
    const opened = await state.restart();
    expect(opened.published).toBeNull();
    expect(opened.problems).toHaveLength(2);
    expect(await state.take(AFTER)).toMatchObject({ kind: "changed" });
    expect(textOf(publishedBy(await state.restart()).snapshot)).toBe(lines(AFTER));
  });
});

describe("the change feed on disk", () => {
  test("has no gaps, one change for each host and version, and everything from the first number on", async () => {
    const steps = Array.from({ length: 12 }, (_, step) => listings(200 + step * 10, step * 5));
    using state = await stored(steps);
    const { feed, snapshot } = publishedBy(await state.restart());
    const hosts = new Map<string, string>();
    let seq = 0;
    for (const limit of [1, 63, 64, 65, 1000, 1000]) {
      const page = await readChangePage(feed, seq, limit);
      const changes: { seq: number; op: string; host: string; listing?: unknown; at: string }[] = JSON.parse(
        `[${Buffer.from(page.text)}]`,
      );
      expect(changes.length).toBeLessThanOrEqual(limit);
      for (const change of changes) {
        seq += 1;
        expect(change.seq).toBe(seq);
        if (change.op === "delete") hosts.delete(change.host);
        else hosts.set(change.host, JSON.stringify(change.listing));
      }
      expect(page.lastSeq).toBe(seq);
    }
    expect(seq).toBe(feed.lastSeq);
    const replayed = [...hosts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => `${text}\n`);
    expect(replayed.join("")).toBe(textOf(snapshot));
  });

  test("drops changes older than 30 days, whole files at a time, and reports its first one", async () => {
    using folder = temporaryFolder("retention");
    const clock = testClock();
    const file = join(folder.path, "listings.ndjson");
    const path = join(folder.path, "directory");
    const syncer = openSyncer({ folder: path, file }, { clock });
    for (let day = 0; day < 40; day++) {
      writeFileSync(file, `${lines(listings(10 + day))}`);
      expect(await syncer.sync({ acceptTripped: true })).toMatchObject({ kind: "changed" });
      clock.advance(86_400_000);
    }
    const { feed, snapshot } = publishedBy(await openSyncer({ folder: path, file }, { clock }).open());
    expect(feed.files[0]?.firstSeq).toBe(19);
    expect(feed.lastSeq).toBe(49);
    expect(snapshot.count).toBe(49);
    // The previous state still speaks of one more.
    expect(readdirSync(path).filter((name) => name.startsWith("changes-"))).toHaveLength(32);
  });
});

describe("another source", () => {
  test("is never mixed with the sample, nor served before it has been read", async () => {
    using folder = temporaryFolder("sample");
    const path = join(folder.path, "directory");
    const file = join(folder.path, "listings.ndjson");
    const sample = openSyncer({ folder: path });
    expect(await sample.sync({ acceptTripped: false })).toMatchObject({
      kind: "changed",
      published: { snapshot: { count: 3, version: 1 } },
    });
    const real = openSyncer({ folder: path, file });
    expect((await real.open()).published).toBeNull();
    writeFileSync(file, lines(BEFORE));
    const outcome = await real.sync({ acceptTripped: false });
    if (outcome.kind !== "changed") throw new Error(outcome.kind);
    expect(outcome.published.snapshot).toMatchObject({ version: 2, count: 30 });
    expect(textOf(outcome.published.snapshot)).toBe(lines(BEFORE));
    expect(outcome.published.feed.lastSeq).toBe(30);
  });

  test("that replaces a real one is compared with it", async () => {
    using state = await stored([BEFORE]);
    const other = join(state.path, "..", "other.ndjson");
    writeFileSync(other, lines(listings(5)));
    const syncer = openSyncer({ folder: state.path, file: other });
    expect((await syncer.open()).published).not.toBeNull();
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "refused" });
    expect(await syncer.sync({ acceptTripped: true })).toMatchObject({ kind: "changed" });
  });
});

test("a folder that cannot be written is an error at the start and a failure later", async () => {
  using folder = temporaryFolder("readonly");
  const blocked = join(folder.path, "file");
  writeFileSync(blocked, "");
  await expect(openSyncer({ folder: join(blocked, "directory") }).open()).rejects.toThrow();
  using state = await stored([BEFORE]);
  rmSync(state.path, { recursive: true });
  expect(await state.take(AFTER)).toMatchObject({ kind: "failed" });
});
