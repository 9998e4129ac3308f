import { describe, expect, test } from "bun:test";
import { ROW_LIMITS } from "../../src/directory/upstream/source.ts";
import { listing, type TestUpstream } from "../support/directory.ts";
import { exportPath, paths, syncedPair } from "../support/synced-directory.ts";

const HOUR_MS = 3_600_000;

/** A listing with another score. */
const rescored = (n: number) =>
  listing(n, (record) => {
    record.score = 2;
  });

describe("following the feed", () => {
  test("applies additions, changes and deletions without another export", async () => {
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
      "a gap in the numbers",
      ({ changes, put }) => {
        put(rescored(1));
        put(rescored(2));
        changes.splice(changes.length - 2, 1);
      },
    ],
    [
      "another epoch",
      (upstream) => {
        upstream.epoch = "second";
        upstream.version = 1;
        upstream.changes.length = 0;
        upstream.records.set(listing(1).host, rescored(1));
      },
    ],
    [
      "a feed that says 410",
      (upstream) => {
        upstream.put(rescored(1));
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response("{}", { status: 410 }) : undefined;
      },
    ],
    [
      "a feed of garbage",
      (upstream) => {
        upstream.put(rescored(1));
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response("<html>") : undefined;
      },
    ],
    [
      "a feed that does not advance",
      (upstream) => {
        upstream.put(rescored(1));
        upstream.intercept = (request) => {
          const cursor = new URL(request.url).searchParams.get("cursor");
          if (!request.url.includes("/changes")) return undefined;
          return Response.json({ epoch: "first", changes: [], next_cursor: cursor, has_more: true });
        };
      },
    ],
    [
      "more changes than a directory has listings",
      (upstream) => {
        upstream.put(rescored(1));
        const changes = Array.from({ length: ROW_LIMITS.rowsMax + 1 }, (_, n) => ({ seq: n + 2 }));
        upstream.intercept = (request) =>
          request.url.includes("/changes")
            ? Response.json({ epoch: "first", changes, next_cursor: "first.2", has_more: false })
            : undefined;
      },
    ],
    [
      "a page larger than any body may be",
      (upstream) => {
        upstream.put(rescored(1));
        const text = "x".repeat(60_000);
        const changes = Array.from({ length: 80 }, (_, n) => ({ seq: n + 2, op: "delete", host: text }));
        upstream.intercept = (request) =>
          request.url.includes("/changes")
            ? Response.json({ epoch: "first", changes, next_cursor: "first.2", has_more: false })
            : undefined;
      },
    ],
    [
      "a feed that says 304 where nothing was asked for by its tag",
      (upstream) => {
        upstream.put(rescored(1));
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response(null, { status: 304 }) : undefined;
      },
    ],
    [
      "commas in the place of changes",
      (upstream) => {
        upstream.put(rescored(1));
        const body = '{"epoch":"first","changes":[,,],"next_cursor":"first.2","has_more":false}';
        upstream.intercept = (request) => (request.url.includes("/changes") ? new Response(body) : undefined);
      },
    ],
    [
      "a page that comes slowly for longer than any body may",
      (upstream) => {
        upstream.put(rescored(1));
        const slow = () =>
          new ReadableStream({
            start: (controller) => controller.enqueue(Buffer.from('{"epoch":"first",')),
            async pull(controller) {
              await Bun.sleep(100);
              controller.enqueue(Buffer.from(" "));
            },
          });
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response(slow()) : undefined;
      },
    ],
    [
      "a wrong change, without the rest of its page",
      (upstream) => {
        upstream.put(rescored(1));
        const start = Buffer.from('{"epoch":"first","changes":[{"seq":"2"},');
        const endless = () => new ReadableStream({ start: (controller) => controller.enqueue(start) });
        upstream.intercept = (request) =>
          request.url.includes("/changes") ? new Response(endless()) : undefined;
      },
    ],
    [
      "a change without a number",
      (upstream) => {
        upstream.put(rescored(1));
        (upstream.changes.at(-1) as { seq: unknown }).seq = "2";
      },
    ],
  ];
  test.each(gaps)("reads the whole export on %s", async (_, lead) => {
    using pair = await syncedPair();
    // One change that is followed, so that the number that must come next is known.
    pair.upstream.put(rescored(0));
    await pair.sync();
    lead(pair.upstream);
    await pair.sync();
    expect(pair.held.listings.get(listing(1).host)?.score).toBe(2);
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(2);
    expect([...pair.held.listings.keys()].sort()).toEqual([...pair.upstream.records.keys()].sort());
  });

  test("reads the whole export where the changes take more than two minutes", async () => {
    using pair = await syncedPair(10);
    for (let n = 0; n < 2500; n++) pair.upstream.put(listing(1000 + (n % 900)));
    pair.upstream.intercept = (request) => {
      if (request.url.includes("/changes")) pair.clock.advance(61_000);
      return undefined;
    };
    expect(await pair.sync()).toMatchObject({ kind: "changed", published: { snapshot: { count: 910 } } });
    expect(paths(pair.upstream)).toEqual([exportPath, "/v1/changes", "/v1/changes", exportPath]);
  });

  test("reads the whole export when the counts drift apart", async () => {
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

  test("reads the whole export once a day, whatever the feed says", async () => {
    using pair = await syncedPair();
    pair.upstream.records.set(listing(700).host, listing(700));
    expect(await pair.sync()).toMatchObject({ kind: "unchanged" });
    pair.clock.advance(25 * HOUR_MS);
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(700).host)).toBe(true);
  });

  test("reads the whole export after the clock is set back", async () => {
    using pair = await syncedPair();
    pair.clock.advance(400 * 24 * HOUR_MS);
    await pair.sync();
    pair.upstream.records.set(listing(700).host, listing(700));
    pair.clock.advance(-400 * 24 * HOUR_MS);
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(700).host)).toBe(true);
    pair.clock.advance(HOUR_MS);
    await pair.sync();
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(3);
  });

  test("follows a page whose changes come behind its other fields, whatever those are called", async () => {
    using pair = await syncedPair();
    pair.upstream.put(listing(201));
    const { changes } = pair.upstream;
    pair.upstream.intercept = (request) =>
      request.url.includes("/changes")
        ? Response.json({
            host: "feed.example",
            epoch: "first",
            next_cursor: "first.1",
            has_more: false,
            changes,
          })
        : undefined;
    expect(await pair.sync()).toMatchObject({ kind: "changed" });
    expect(pair.held.listings.has(listing(201).host)).toBe(true);
    expect(paths(pair.upstream).filter((path) => path === exportPath)).toHaveLength(1);
  });

  test("ignores duplicate changes", async () => {
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

  test("keeps the former version of a host whose change is invalid, until a valid one arrives", async () => {
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

  test("quarantines a listing that is longer than any row of an export may be", async () => {
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

  test("keeps little of a change whose host is long", async () => {
    using pair = await syncedPair();
    pair.upstream.changes.push({ seq: 1, op: "upsert", host: "a".repeat(100_000), listing: {} });
    expect(await pair.sync()).toMatchObject({ freshness: { quarantined: 1 } });
    expect(Bun.file(`${pair.folder.path}/current.json`).size).toBeLessThan(10_000);
  });

  test("quarantines a change that is nested too deeply to be written again", async () => {
    using pair = await syncedPair();
    const { host } = listing(1);
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const body = `{"epoch":"first","changes":[{"seq":1,"op":"upsert","host":"${host}","listing":${deep}}],"next_cursor":"first.1","has_more":false}`;
    pair.upstream.intercept = (request) =>
      request.url.includes("/changes") ? new Response(body) : undefined;
    expect(await pair.sync()).toMatchObject({ kind: "unchanged", freshness: { quarantined: 1 } });
    expect(paths(pair.upstream)).toEqual([exportPath, "/v1/changes"]);
  });

  test("refuses a change that carries another host's listing", async () => {
    using pair = await syncedPair();
    pair.upstream.changes.push({ seq: 1, op: "upsert", host: listing(1).host, listing: listing(2) });
    expect(await pair.sync()).toMatchObject({ kind: "unchanged", freshness: { quarantined: 1 } });
  });
});
