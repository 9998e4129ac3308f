import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "../../src/app/log.ts";
import { systemPlatform } from "../../src/app/platform.ts";
import { openScannedDirectory } from "../../src/app/scanned-directory.ts";
import { findHost } from "../../src/directory/snapshot/snapshot.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { ScanStore } from "../../src/store/scan-port.ts";
import { openScans } from "../../src/store/sqlite/side-databases/scans/open-scans.ts";
import { until } from "../support/caller.ts";
import { lines, listing, listings } from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";

/** How the listings of scanned hosts come from their store into the directory. */

const COUNT = 950;
const PAGE = 100;

/** A store with some listings, and a folder for the directory. */
function setUp() {
  const folder = temporaryFolder("scanned-directory");
  const database = openScans(null, systemClock);
  const store = database.scans;
  for (const record of listings(COUNT)) store.list(record.host, JSON.stringify(record));
  const logged: string[] = [];
  const stack = new AsyncDisposableStack();
  return {
    store,
    logged,
    written: () => readFileSync(join(folder.path, "scanned.ndjson"), "utf8"),
    open: (read: Pick<ScanStore, "listingsAfter"> = store) => {
      const log = createLog("error", { write: (line) => void logged.push(line) });
      return openScannedDirectory({ dataDir: folder.path }, systemPlatform(log), read, stack);
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync();
      database[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

test("the listings are read and written a hundred in each turn of the event loop, all of them", async () => {
  await using world = setUp();
  const { store } = world;
  let turn = 0;
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const reads: { readonly limit: number; readonly turn: number }[] = [];
  const { directory } = await world.open({
    listingsAfter: (host, limit) => {
      reads.push({ limit, turn });
      return store.listingsAfter(host, limit);
    },
  });
  clearImmediate(counting);
  expect(reads.map(({ limit }) => limit)).toEqual(Array(Math.ceil(COUNT / PAGE) + 1).fill(PAGE));
  expect(new Set(reads.map(({ turn }) => turn)).size).toBe(reads.length);
  expect(world.written()).toBe(lines(listings(COUNT)));
  expect(directory.view()?.snapshot.count).toBe(COUNT);
});

test("what changes while the listings are written comes into the directory too, in writes one after the other", async () => {
  await using world = setUp();
  const { store } = world;
  const late = { ...listing(0), ...hostOf("a-late.example") };
  let isOpen = false;
  let writing = 0;
  const read: ScanStore["listingsAfter"] = (host, limit) => {
    if (host === "") writing += 1;
    const page = store.listingsAfter(host, limit);
    if (page.length === 0) writing -= 1;
    expect(writing).toBeLessThanOrEqual(1);
    // Its place in the file is passed already.
    if (isOpen && host !== "" && store.list(late.host, JSON.stringify(late))) directories.changed();
    return page;
  };
  const directories = await world.open({ listingsAfter: read });
  isOpen = true;
  store.list("z-early.example", JSON.stringify({ ...listing(1), ...hostOf("z-early.example") }));
  directories.changed();
  const isListed = (host: string) => {
    const snapshot = directories.directory.view()?.snapshot;
    return snapshot !== undefined && findHost(snapshot, host) >= 0;
  };
  await until("both listings", () => isListed("z-early.example") && isListed(late.host));
  expect(world.logged).toEqual([]);
});

test("a scan that leaves the listing of its host as it was is no change", async () => {
  await using world = setUp();
  const { list } = world.store;
  const [one, other] = [JSON.stringify(listing(1)), JSON.stringify(listing(2))];
  const host = "new.example";
  const changes = [list(host, null), list(host, one), list(host, one), list(host, other)];
  expect(changes).toEqual([false, true, false, true]);
  expect(world.store.listingsAfter("c", 1)).toEqual([{ host, listing: other }]);
  expect([list(host, null), list(host, null)]).toEqual([true, false]);
});

/** The fields of a listing that name its host. */
function hostOf(host: string) {
  const url = `https://${host}/v1/run`;
  return {
    host,
    resources: [{ url, score: 1, price_usd: "0.010000" }],
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`,
  };
}
