import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { rowBytes } from "../../src/directory/snapshot/snapshot.ts";
import type { Syncer, SyncOutcome } from "../../src/directory/sync/syncer.ts";
import {
  lines,
  listing,
  listings,
  openSyncer,
  payee,
  START,
  startUpstream,
  TEST_LIMITS,
  type TestClock,
  type TestListing,
  type TestUpstream,
  testClock,
} from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";

const HOUR_MS = 3_600_000;

/** An upstream with some listings, and the sync side that has taken them. */
async function syncedPair(count = 100) {
  const upstream = startUpstream(listings(count));
  const folder = temporaryFolder("directory");
  const clock = testClock();
  const syncer = openSyncer({ folder: folder.path, upstream: upstream.url }, { clock });
  await syncer.open();
  const first = await syncer.sync({ acceptTripped: false });
  if (first.kind !== "changed") throw new Error(JSON.stringify(first));
  const held = { outcome: first as SyncOutcome, listings: contentOf(first) };
  return {
    upstream,
    folder,
    clock,
    syncer,
    held,
    async sync(acceptTripped = false): Promise<SyncOutcome> {
      const outcome = await syncer.sync({ acceptTripped });
      if (outcome.kind === "changed") held.listings = contentOf(outcome);
      return outcome;
    },
    [Symbol.dispose]: () => {
      upstream[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

function contentOf(outcome: SyncOutcome): Map<string, TestListing> {
  if (outcome.kind !== "changed") throw new Error(`No new snapshot: ${JSON.stringify(outcome)}`);
  const { snapshot } = outcome.published;
  const texts = Array.from({ length: snapshot.count }, (_, row) =>
    new TextDecoder().decode(rowBytes(snapshot, row)),
  );
  return new Map(texts.map((text) => JSON.parse(text) as TestListing).map((record) => [record.host, record]));
}

/** What the state on disk holds, as a process sees it that starts now. */
async function storedContent(folder: string, upstream: string, clock: TestClock) {
  const { published } = await openSyncer({ folder, upstream }, { clock }).open();
  if (published === null) return null;
  const { snapshot } = published;
  return Array.from({ length: snapshot.count }, (_, row) =>
    new TextDecoder().decode(rowBytes(snapshot, row)),
  );
}

const exportPath = "/v1/directory/export";
const paths = (upstream: TestUpstream) => upstream.requests.map((request) => request.split("?")[0]);
const paid = (record: TestListing, to: string) => ({
  ...record,
  evidence: { ...record.evidence, pay_to: to },
});

describe("following the feed", () => {
  test("takes additions, changes and deletions without another export", async () => {
    using pair = await syncedPair();
    const changed = listing(3, (record) => {
      record.score = 1;
    });
    pair.upstream.put(changed);
    pair.upstream.put(listing(500));
    pair.upstream.remove(listing(7).host);
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.get(changed.host)).toEqual(changed);
    expect(pair.held.listings.has(listing(500).host)).toBe(true);
    expect(pair.held.listings.has(listing(7).host)).toBe(false);
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(1);
    expect(await pair.sync()).toMatchObject({ kind: "unchanged" });
  });

  test("walks pages to the end and swaps once", async () => {
    using pair = await syncedPair(10);
    for (let n = 0; n < 2500; n++) pair.upstream.put(listing(1000 + (n % 900)));
    const outcome = await pair.sync();
    expect(outcome).toMatchObject({ kind: "changed", published: { snapshot: { version: 2, count: 910 } } });
    expect(pair.upstream.requests.filter((path) => path.startsWith("/v1/changes"))).toHaveLength(3);
  });

  const gaps: readonly [string, (upstream: TestUpstream) => void][] = [
    [
      "a hole in the numbers",
      ({ changes, put }) => {
        put(
          listing(1, (record) => {
            record.score = 2;
          }),
        );
        put(
          listing(2, (record) => {
            record.score = 2;
          }),
        );
        changes.splice(changes.length - 2, 1);
      },
    ],
    [
      "another epoch",
      (upstream) => {
        upstream.epoch = "second";
        upstream.version = 1;
        upstream.changes.length = 0;
        upstream.records.set(
          listing(1).host,
          listing(1, (record) => {
            record.score = 2;
          }),
        );
      },
    ],
    [
      "a feed that says 410",
      (upstream) => {
        upstream.put(
          listing(1, (record) => {
            record.score = 2;
          }),
        );
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response("{}", { status: 410 }) : undefined;
      },
    ],
    [
      "a feed of garbage",
      (upstream) => {
        upstream.put(
          listing(1, (record) => {
            record.score = 2;
          }),
        );
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response("<html>") : undefined;
      },
    ],
    [
      "a feed that stands still",
      (upstream) => {
        upstream.put(
          listing(1, (record) => {
            record.score = 2;
          }),
        );
        upstream.intercept = (request) => {
          const cursor = new URL(request.url).searchParams.get("cursor");
          if (!request.url.includes("/changes")) return undefined;
          return Response.json({ epoch: "first", changes: [], next_cursor: cursor, has_more: true });
        };
      },
    ],
    [
      "a change without a number",
      (upstream) => {
        upstream.put(
          listing(1, (record) => {
            record.score = 2;
          }),
        );
        (upstream.changes.at(-1) as { seq: unknown }).seq = "2";
      },
    ],
  ];
  test.each(gaps)("takes the whole export on %s", async (_, lead) => {
    using pair = await syncedPair();
    // One change that is followed, so that the number that must come next is known.
    pair.upstream.put(
      listing(0, (record) => {
        record.score = 2;
      }),
    );
    await pair.sync();
    lead(pair.upstream);
    await pair.sync();
    expect(pair.held.listings.get(listing(1).host)?.score).toBe(2);
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(2);
    expect([...pair.held.listings.keys()].sort()).toEqual([...pair.upstream.records.keys()].sort());
  });

  test("takes the whole export when the counts drift apart", async () => {
    using pair = await syncedPair();
    const withCount = (request: Request, count: number) => {
      if (request.url.includes("/changes")) {
        const cursor = new URL(request.url).searchParams.get("cursor");
        const body = { epoch: "first", changes: [], next_cursor: cursor, has_more: false };
        return Response.json(body, { headers: { "X-Directory-Count": `${count}` } });
      }
      const headers = {
        "X-Directory-Epoch": "first",
        "X-Directory-Cursor": "first.0",
        "X-Directory-Count": `${count}`,
      };
      return new Response(pair.upstream.exportBody(), { headers });
    };
    pair.upstream.intercept = (request) => withCount(request, pair.upstream.records.size);
    pair.clock.advance(25 * HOUR_MS);
    await pair.sync();
    await pair.sync();
    // A record comes without a change in the feed.
    pair.upstream.records.set(listing(700).host, listing(700));
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(700).host)).toBe(true);
  });

  test("takes the whole export once a day, whatever the feed says", async () => {
    using pair = await syncedPair();
    pair.upstream.records.set(listing(700).host, listing(700));
    expect(await pair.sync()).toMatchObject({ kind: "unchanged" });
    pair.clock.advance(25 * HOUR_MS);
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(700).host)).toBe(true);
  });

  test("passes over changes that come twice", async () => {
    using pair = await syncedPair();
    pair.upstream.put(listing(200));
    await pair.sync();
    pair.upstream.put(listing(201));
    const { changes } = pair.upstream;
    pair.upstream.intercept = (request) =>
      request.url.includes("/changes")
        ? Response.json({ epoch: "first", changes, next_cursor: "first.2", has_more: false })
        : undefined;
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(201).host)).toBe(true);
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(1);
  });

  test("keeps the former version of a host whose change is bad, until a good one comes", async () => {
    using pair = await syncedPair();
    const former = pair.held.listings.get(listing(1).host);
    pair.upstream.put(
      listing(1, (record) => {
        record.evidence.price_usd = "cheap";
      }),
    );
    expect(await pair.sync()).toMatchObject({ kind: "unchanged", freshness: { quarantined: 1 } });
    expect(pair.held.listings.get(listing(1).host)).toEqual(former);
    const kept = JSON.parse(await Bun.file(`${pair.folder.path}/quarantine.ndjson`).text());
    expect(kept).toMatchObject({
      host: listing(1).host,
      reason: "bad_price_usd",
      first_seen: "2026-03-01T12:00:00.000Z",
    });
    pair.upstream.changes.push({ seq: 2, op: "rename", host: listing(2).host, at: "" });
    expect(await pair.sync()).toMatchObject({ freshness: { quarantined: 2 } });
    pair.upstream.changes.push({ seq: 3, op: "upsert", host: listing(1).host, listing: listing(1) });
    pair.upstream.changes.push({ seq: 4, op: "delete", host: listing(2).host });
    expect(await pair.sync()).toMatchObject({ kind: "changed", freshness: { quarantined: 0 } });
  });

  test("keeps out a listing that is longer than any row of an export may be", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    const long = listing(1, (record) => {
      record.resources = Array.from({ length: 100 }, (_, n) => ({
        url: `https://${host}/${"x".repeat(700)}/${n}`,
        score: 1,
        price_usd: null,
      }));
      record.endpoints = 100;
      record.judged_by = `https://judge.example/v1/check?resource=${encodeURIComponent(record.resources[0]?.url ?? "")}`;
    });
    pair.upstream.put(long);
    expect(await pair.sync()).toMatchObject({ kind: "unchanged", freshness: { quarantined: 1 } });
  });

  test("refuses a change that carries another host's listing", async () => {
    using pair = await syncedPair();
    pair.upstream.changes.push({ seq: 1, op: "upsert", host: listing(1).host, listing: listing(2) });
    expect(await pair.sync()).toMatchObject({ kind: "unchanged", freshness: { quarantined: 1 } });
  });
});

describe("an export", () => {
  const inForm =
    (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    () =>
      new Response(body, { headers });
  const records = listings(20);

  test.each([
    ["JSON lines", inForm(lines(records))],
    ["an array", inForm(JSON.stringify(records))],
    ["an object with listings", inForm(JSON.stringify({ version: 4, listings: records }))],
    ["an object with items", inForm(JSON.stringify({ items: records }, null, 2))],
    ["an object with data", inForm(JSON.stringify({ data: records }))],
    ["gzip", inForm(gzipSync(lines(records)), { "Content-Encoding": "gzip" })],
  ])("is read as %s, without any feed", async (_, answer) => {
    using upstream = startUpstream();
    upstream.intercept = answer;
    using folder = temporaryFolder("directory");
    const syncer = openSyncer({ folder: folder.path, upstream: upstream.url });
    const content = contentOf(await syncer.sync({ acceptTripped: false }));
    expect([...content.values()]).toEqual(records);
  });

  test("is asked for only if it has changed, where there is no feed", async () => {
    using upstream = startUpstream();
    const held: (string | null)[] = [];
    upstream.intercept = (request) => {
      held.push(request.headers.get("if-none-match"));
      if (request.headers.get("if-none-match") === '"one"') return new Response(null, { status: 304 });
      return new Response(lines(records), { headers: { ETag: '"one"' } });
    };
    using folder = temporaryFolder("directory");
    const syncer = openSyncer({ folder: folder.path, upstream: upstream.url });
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "changed" });
    expect(await syncer.sync({ acceptTripped: false })).toMatchObject({ kind: "unchanged" });
    const restarted = openSyncer({ folder: folder.path, upstream: upstream.url });
    expect(await restarted.sync({ acceptTripped: false })).toMatchObject({ kind: "unchanged" });
    expect(held).toEqual([null, '"one"', '"one"']);
  });

  const failures: readonly [string, (request: Request) => Response | Promise<Response>, RegExp][] = [
    ["404", () => new Response("no", { status: 404 }), /answers 404/],
    ["500", () => new Response("no", { status: 500 }), /answers 500/],
    ["HTML", () => new Response("<html>"), /neither JSON lines/],
    ["no UTF-8 and no JSON", () => new Response(new Uint8Array([0xff, 0xfe, 0x00])), /neither JSON lines/],
    [
      "an array that is cut off",
      () => new Response(`[${lines(records.slice(0, 3)).replaceAll("\n", ",")}`),
      /inside/,
    ],
    ["JSON lines that are cut inside a row", () => new Response(lines(records).slice(0, -9)), /inside a row/],
    [
      "fewer rows than it announces",
      () => new Response(lines(records), { headers: { "X-Directory-Count": "21" } }),
      /20 of 21/,
    ],
    [
      "another digest",
      () => new Response(lines(records), { headers: { "X-Directory-Digest": "00" } }),
      /digest/,
    ],
    [
      "a gzip bomb",
      () =>
        new Response(gzipSync(Buffer.alloc(64 * 1024 * 1024, " ")), {
          headers: { "Content-Encoding": "gzip" },
        }),
      /bytes inflated/,
    ],
    ["too many bytes", () => new Response(" ".repeat(TEST_LIMITS.rawBytesMax + 1)), /passes/],
    [
      "too many rows",
      () => new Response(gzipSync("{}\n".repeat(200_001)), { headers: { "Content-Encoding": "gzip" } }),
      /200000 rows/,
    ],
    ["a redirect", () => Response.redirect("http://127.0.0.1:1/", 302), /redirected/],
  ];
  test.each(failures)("that is %s changes nothing and is an ordinary failure", async (_, answer, reason) => {
    using pair = await syncedPair();
    const before = await storedContent(pair.folder.path, pair.upstream.url, pair.clock);
    pair.upstream.intercept = (request) =>
      request.url.includes("/changes") ? new Response("{}", { status: 404 }) : answer(request);
    const outcome = await pair.sync();
    expect(outcome).toMatchObject({ kind: "failed", reason: expect.stringMatching(reason) });
    expect(await storedContent(pair.folder.path, pair.upstream.url, pair.clock)).toEqual(before);
    pair.upstream.intercept = () => undefined;
    pair.upstream.put(listing(300));
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
  });

  test("that answers 503 with Retry-After says how long to wait", async () => {
    using pair = await syncedPair();
    pair.upstream.intercept = () => new Response("", { status: 503, headers: { "Retry-After": "77" } });
    expect(await pair.sync()).toEqual({
      kind: "failed",
      reason: "the change feed answers 503",
      shown: "the change feed answers 503",
      retryAfterMs: 77_000,
    });
  });

  test("in which a host stands twice with two payees changes nothing of that host", async () => {
    using pair = await syncedPair();
    const former = pair.held.listings.get(listing(1).host);
    const twin = paid(listing(1), payee(666));
    pair.upstream.exportBody = () =>
      lines([...listings(100), twin, listing(2), paid(listing(400), payee(1)), listing(400)]);
    pair.upstream.epoch = "second";
    await pair.sync();
    expect(pair.held.listings.get(listing(1).host)).toEqual(former);
    // A host that was never good has nothing to keep.
    expect(pair.held.listings.has(listing(400).host)).toBe(false);
    expect(pair.held.listings.size).toBe(100);
  });

  test("in which a host stands twice with one payee keeps the first", async () => {
    using pair = await syncedPair();
    const [first, second] = [11, 12].map((score) =>
      listing(1, (record) => {
        record.score = score;
      }),
    );
    pair.upstream.exportBody = () => lines([first, second, ...listings(99, 2), listing(0)]);
    pair.upstream.epoch = "second";
    expect(await pair.sync()).toMatchObject({ kind: "changed", freshness: { quarantined: 1 } });
    expect(pair.held.listings.get(listing(1).host)?.score).toBe(11);
  });

  test("with 5 % of bad records is taken, these kept out and their hosts kept as they were", async () => {
    using pair = await syncedPair();
    const bad = (n: number): unknown => {
      if (n === 0) return "{broken";
      if (n === 1)
        return listing(1, (record) => {
          record.description = "bell \u0007";
        });
      if (n === 2) return JSON.parse(`{"__proto__":{"host":"x.example"},"host":"${listing(2).host}"}`);
      if (n === 3) return paid(listing(3), "0x<script>");
      return { host: "<img src=x>.example" };
    };
    const text = (n: number) =>
      n < 5 ? (n === 0 ? "{broken" : JSON.stringify(bad(n))) : JSON.stringify(listing(n));
    pair.upstream.exportBody = () => Array.from({ length: 100 }, (_, n) => text(n)).join("\n");
    pair.upstream.epoch = "second";
    const before = new Map(pair.held.listings);
    const outcome = await pair.sync();
    expect(outcome).toMatchObject({ freshness: { quarantined: 5 } });
    for (const n of [1, 2, 3])
      expect(pair.held.listings.get(listing(n).host)).toEqual(before.get(listing(n).host) as never);
    // Hosts that could not be read from their records count as deleted.
    expect(pair.held.listings.size).toBe(98);
    const written = await Bun.file(`${pair.folder.path}/quarantine.ndjson`).text();
    const reasons = written
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).reason);
    expect(reasons.sort()).toEqual([
      "bad_host",
      "bad_pay_to",
      "bad_resources",
      "control_characters",
      "not_json",
    ]);
  });
});

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
      "payees changed in masses",
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

  test("refuse a rollback over a restart too", async () => {
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
  test("is kept here where the upstream does not keep it", async () => {
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

  test("is the upstream's where it keeps it, unless it conceals a change", async () => {
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
});
