import { expect, test } from "bun:test";
import { createScannedHosts } from "../../src/app/scanned-hosts.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { scoreEvidence } from "../../src/scan/score.ts";
import { openScans } from "../../src/store/sqlite/side-databases/scans/open-scans.ts";
import { status } from "../scan/made-up-answers.ts";
import { scan } from "../scan/made-up-service.ts";
import { listing, type TestListing } from "../support/directory.ts";

/** What scans write of the hosts that the directory lists, and what a start takes away. */

const NOW = Date.parse("2026-11-20T12:00:00Z");

function setUp({ anyPort }: { readonly anyPort: boolean }) {
  const database = openScans(null, systemClock);
  let changes = 0;
  const dependencies = {
    store: database.scans,
    changed: () => {
      changes += 1;
    },
  };
  return {
    store: database.scans,
    hosts: createScannedHosts(dependencies, { judgeUrl: "https://judge.example", anyPort }),
    changes: () => changes,
    listed: () => database.scans.listingsAfter("", 1000).map(({ host }) => host),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

test("a scan that leaves the listing of its host as it was brings nothing into the directory", async () => {
  using world = setUp({ anyPort: true });
  const [paid, gone] = [await scan({}), await scan({ answers: { "/v1/paid": () => status(404) } })];
  const changes = [gone, paid, paid, gone, gone].map((evidence) => {
    world.hosts.scanned(evidence, scoreEvidence(evidence));
    return world.changes();
  });
  expect(changes).toEqual([0, 1, 1, 2, 2]);
});

/** Moves the resources of a listing to another port. */
function moved(record: TestListing): void {
  const url = `https://${record.host}:8443/v1/run`;
  record.resources = record.resources.map((resource) => ({ ...resource, url }));
  record.judged_by = `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`;
}

/** Lists a hundred hosts, every tenth of another port, and every tenth with a payee that is no address. */
function listFormer({ store }: ReturnType<typeof setUp>): void {
  for (let n = 0; n < 100; n += 1) {
    const record = listing(n);
    if (n % 10 === 3) moved(record);
    if (n % 10 === 7) record.evidence.pay_to = "x".repeat(60_000);
    store.list(record.host, JSON.stringify(record));
  }
}

test("a start removes what a former version listed of other ports, or no directory accepts, and nothing else", async () => {
  for (const anyPort of [false, true]) {
    using world = setUp({ anyPort });
    listFormer(world);
    // Scanned on the usual port, which names resources on another.
    const report = { scannedAt: 1, expiresAt: 1, report: "{}", evidence: "" };
    world.store.insert({ ...report, reportId: "rep_1", origin: `https://${listing(13).host}` });
    await world.hosts.removeFormer(NOW, new AbortController().signal);
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const kept = numbers.filter((n) => n % 10 !== 7 && (n % 10 !== 3 || anyPort || n === 13));
    expect(world.listed()).toEqual(kept.map((n) => listing(n).host));
    expect(world.changes()).toBeGreaterThan(0);
    const changes = world.changes();
    await world.hosts.removeFormer(NOW, new AbortController().signal);
    expect(world.changes()).toBe(changes);
  }
});

test("former listings are removed some in each turn of the event loop, until the service ends", async () => {
  using world = setUp({ anyPort: false });
  listFormer(world);
  const ended = new AbortController();
  const removing = world.hosts.removeFormer(NOW, ended.signal);
  ended.abort();
  await removing;
  expect([world.listed().length < 100, world.listed().length > 90]).toEqual([true, true]);
});
