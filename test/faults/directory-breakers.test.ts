import { describe, expect, test } from "bun:test";
import type { Syncer } from "../../src/directory/sync/syncer.ts";
import {
  listing,
  listings,
  openSyncer,
  payee,
  START,
  startUpstream,
  type TestListing,
} from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";
import { contentOf, paid, storedContent, syncedPair } from "../support/synced-directory.ts";

const HOUR_MS = 3_600_000;

describe("the breakers", () => {
  const cases: readonly [string, (pair: Awaited<ReturnType<typeof syncedPair>>) => void, RegExp][] = [
    [
      "more than 5 % bad records",
      ({ upstream }) => {
        for (let n = 0; n < 6; n++)
          upstream.put(
            listing(n, (record) => {
              record.score = -1;
            }),
          );
      },
      /6 of 100 records are not valid/,
    ],
    [
      "a drop of more than 30 %",
      ({ upstream }) => {
        for (let n = 0; n < 31; n++) upstream.remove(listing(n).host);
      },
      /31 of 100 listings are gone/,
    ],
    [
      "payees that change in masses",
      ({ upstream }) => {
        for (let n = 0; n < 11; n++) upstream.put(paid(listing(n), payee(666)));
      },
      /11 of 100 payees change at once/,
    ],
    [
      "a rollback",
      ({ upstream }) => {
        upstream.version = 0;
        upstream.changes.length = 0;
        upstream.records.delete(listing(1).host);
      },
      /version 0 is older than 1/,
    ],
    [
      "a freeze",
      ({ upstream }) => {
        upstream.ageSeconds = 49 * 3600;
      },
      /49 hours old/,
    ],
  ];
  test.each(cases)("keep the last good state at %s, by feed and by export", async (_, lead, reason) => {
    using pair = await syncedPair();
    lead(pair);
    const byFeed = await pair.sync();
    expect(byFeed).toMatchObject({ kind: "refused", reason: expect.stringMatching(reason) });
    pair.upstream.intercept = (request) =>
      request.url.includes("/changes") ? new Response("{}", { status: 404 }) : undefined;
    const byExport = await pair.sync();
    expect(byExport).toMatchObject({ kind: "refused", reason: expect.stringMatching(reason) });
    const stored = await storedContent(pair.folder.path, pair.upstream.url, pair.clock);
    expect(stored).toHaveLength(100);
    expect(pair.held.listings.size).toBe(100);
  });

  test("let pass what the operator accepts, once", async () => {
    using pair = await syncedPair();
    for (let n = 0; n < 40; n++) pair.upstream.put(paid(listing(n), payee(666)));
    expect(await pair.sync()).toMatchObject({ kind: "refused" });
    expect(await pair.sync(true)).toMatchObject({
      kind: "changed",
      accepted: [expect.stringContaining("40 of 100")],
    });
    expect(await pair.sync()).toMatchObject({ kind: "unchanged" });
    for (let n = 0; n < 40; n++) pair.upstream.put(paid(listing(n), payee(667)));
    expect(await pair.sync()).toMatchObject({ kind: "refused" });
  });

  test("do not count new listings as changed payees, but those that come back with another", async () => {
    using pair = await syncedPair();
    for (let n = 0; n < 50; n++) pair.upstream.put(listing(200 + n));
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    for (let n = 0; n < 20; n++) pair.upstream.remove(listing(n).host);
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    for (let n = 0; n < 20; n++) pair.upstream.put(paid(listing(n), payee(666)));
    expect(await pair.sync()).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining("payees change"),
    });
  });

  test("refuse a rollback across a restart too", async () => {
    using pair = await syncedPair();
    pair.upstream.put(
      listing(1, (record) => {
        record.score = 3;
      }),
    );
    await pair.sync();
    pair.upstream.version = 1;
    pair.upstream.changes.length = 0;
    const restarted = openSyncer(
      { folder: pair.folder.path, upstream: pair.upstream.url },
      { clock: pair.clock },
    );
    expect(await restarted.sync({ acceptTripped: false })).toMatchObject({ kind: "refused" });
  });

  test("refuse an export whose own time is older than the last one's", async () => {
    using upstream = startUpstream();
    let hour = 10;
    upstream.intercept = () =>
      Response.json({
        generated_at: new Date(START - 24 * HOUR_MS + hour * HOUR_MS).toISOString(),
        listings: listings(5),
      });
    using folder = temporaryFolder("directory");
    const syncer: Syncer = openSyncer({ folder: folder.path, upstream: upstream.url });
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "changed" });
    hour = 9;
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "refused" });
    hour = 11;
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "unchanged" });
  });

  test.each<[string, (at: string, body: object) => Response]>([
    ["generated_at", (at, body) => Response.json({ generated_at: at, ...body })],
    ["Last-Modified", (at, body) => Response.json(body, { headers: { "Last-Modified": at } })],
  ])("take the exports after one whose %s lies in the future", async (_, answer) => {
    using upstream = startUpstream();
    let at = "Sat, 01 Jan 2050 00:00:00 GMT";
    let count = 5;
    upstream.intercept = () => answer(at, { listings: listings(count) });
    using folder = temporaryFolder("directory");
    const syncer = openSyncer({ folder: folder.path, upstream: upstream.url });
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "changed" });
    at = new Date(START - HOUR_MS).toUTCString();
    count = 6;
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "changed" });
    at = new Date(START - 2 * HOUR_MS).toUTCString();
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "refused" });
  });
});

describe("pay_to_changed_at", () => {
  const silent = (record: TestListing): TestListing => {
    const { pay_to_changed_at: _, ...evidence } = record.evidence;
    return { ...record, evidence };
  };
  test("is tracked here where the upstream does not state it", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    const changedAt = () => pair.held.listings.get(host)?.evidence.pay_to_changed_at;
    pair.upstream.put(silent(paid(listing(1), payee(900))));
    pair.clock.advance(HOUR_MS);
    await pair.sync();
    const seen = new Date(START + HOUR_MS).toISOString();
    expect(changedAt()).toBe(seen);
    pair.clock.advance(HOUR_MS);
    pair.upstream.put(
      silent(
        paid(
          listing(1, (record) => {
            record.score = 9;
          }),
          payee(900),
        ),
      ),
    );
    await pair.sync();
    expect(changedAt()).toBe(seen);
  });

  test("is the upstream's where it states it, unless it conceals a change", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    const said = (at: string | null, to: string) => {
      const record = paid(listing(1), to);
      return { ...record, evidence: { ...record.evidence, pay_to_changed_at: at } };
    };
    pair.upstream.put(said("2026-02-28T00:00:00Z", payee(900)));
    await pair.sync();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe("2026-02-28T00:00:00Z");
    pair.clock.advance(HOUR_MS);
    pair.upstream.put(said("2026-02-28T00:00:00Z", payee(901)));
    await pair.sync();
    const seen = new Date(START + HOUR_MS).toISOString();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
    pair.upstream.put(said(null, payee(901)));
    await pair.sync();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
  });

  test("is known of a host that is deleted and comes back with another payee in one sync", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    pair.upstream.remove(host);
    pair.upstream.put(silent(paid(listing(1), payee(900))));
    pair.clock.advance(HOUR_MS);
    await pair.sync();
    const seen = new Date(START + HOUR_MS).toISOString();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
    pair.clock.advance(HOUR_MS);
    pair.upstream.remove(host);
    pair.upstream.put(silent(paid(listing(1), payee(900))));
    await pair.sync();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
  });

  test.each(["the feed", "the export"])("outlasts a deletion and a restart, by %s", async (way) => {
    using pair = await syncedPair();
    if (way === "the export")
      pair.upstream.intercept = ({ url }) =>
        url.includes("/changes") ? new Response("{}", { status: 404 }) : undefined;
    const { host } = listing(1);
    pair.upstream.put(silent(paid(listing(1), payee(900))));
    pair.clock.advance(HOUR_MS);
    await pair.sync();
    const seen = new Date(START + HOUR_MS).toISOString();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
    pair.upstream.remove(host);
    await pair.sync();
    expect(pair.held.listings.has(host)).toBe(false);
    pair.upstream.put(silent(paid(listing(1), payee(900))));
    pair.clock.advance(HOUR_MS);
    const { folder, upstream, clock } = pair;
    const restarted = openSyncer({ folder: folder.path, upstream: upstream.url }, { clock });
    const returned = contentOf(await restarted.sync({ acceptTripped: false })).get(host);
    expect(returned?.evidence.pay_to_changed_at).toBe(seen);
  });

  test("is dated anew where a host comes back with another payee and the time of the change before", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    const said = (to: string) =>
      paid(
        listing(1, ({ evidence }) => {
          evidence.pay_to_changed_at = "2026-02-28T00:00:00Z";
        }),
        to,
      );
    pair.upstream.put(said(payee(900)));
    await pair.sync();
    pair.upstream.remove(host);
    await pair.sync();
    pair.upstream.put(said(payee(901)));
    pair.clock.advance(HOUR_MS);
    await pair.sync();
    const seen = new Date(START + HOUR_MS).toISOString();
    expect(pair.held.listings.get(host)?.evidence.pay_to_changed_at).toBe(seen);
  });
});
