import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  lines,
  listing,
  listings,
  openSyncer,
  payee,
  startUpstream,
  TEST_LIMITS,
} from "../support/directory.ts";
import { temporaryFolder } from "../support/process.ts";
import { contentOf, paid, storedContent, syncedPair } from "../support/synced-directory.ts";

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

  test("is requested conditionally where there is no feed", async () => {
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

  // Made before it is asked for: the answer is waited for.
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));
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
        new Response(bomb, {
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

  test("with two records of a host and two payees changes nothing of that host", async () => {
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

  test("with two records of a host and one payee keeps the first", async () => {
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

  test("with 5 % of invalid records is accepted, these are quarantined and their hosts stay as they were", async () => {
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
