import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Value } from "@sinclair/typebox/value";
import { ChangesView, DirectoryView, ListingView } from "../../src/contract/directory-schemas.ts";
import { ERRORS } from "../../src/contract/errors.ts";
import { lines, listing, listings, openSyncer, payee, type TestListing } from "../support/directory.ts";
import { jsonOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";
import { refusalOf, startTestServer, type TestServer } from "../support/server.ts";

type Page = {
  listings: TestListing[];
  total: number;
  next_cursor: string | null;
  snapshot: { version: number; synced_at: string; stale: boolean; count: number; quarantined: number };
};
type Changes = {
  epoch: string;
  changes: { seq: number; op: string; host: string; listing?: TestListing; at: string }[];
  next_cursor: string;
  has_more: boolean;
};

const RECORDS = listings(120);
const folder = temporaryFolder("directory-api");
const file = join(folder.path, "listings.json");
let server: TestServer;

beforeAll(async () => {
  writeFileSync(file, JSON.stringify({ listings: [...RECORDS, { host: "bad" }] }));
  server = await startTestServer({
    environment: {
      DIRECTORY_FILE: file,
      DIRECTORY_SYNC_SECONDS: "3600",
      PUBLIC_REQUESTS_PER_SECOND: "100000",
    },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const page = async (query: string) => jsonOf<Page>(await server.call(`/v1/directory${query}`));

describe("GET /v1/directory", () => {
  describe("200", () => {
    test("returns a page, the number of all matches and their snapshot, without a key", async () => {
      const reply = await server.call("/v1/directory?limit=3");
      const body = await jsonOf<Page>(reply);
      expect(Value.Check(DirectoryView, body)).toBe(true);
      expect(Object.keys(body)).toEqual(["listings", "total", "next_cursor", "snapshot"]);
      expect(body).toMatchObject({
        total: 120,
        snapshot: { version: 1, stale: false, count: 120, quarantined: 1 },
      });
      expect(body.listings).toHaveLength(3);
      expect(Number(reply.headers.get("age"))).toBeLessThan(60);
      expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(reply.headers.has("x-units-charged")).toBe(false);
    });

    test("returns each listing as the source wrote it", async () => {
      const { listings: found } = await page("?limit=200");
      const byHost = new Map(found.map((record) => [record.host, record]));
      for (const record of RECORDS) expect(byHost.get(record.host)).toEqual(record);
    });

    test("filters, searches and sorts", async () => {
      const cheap = await page("?max_price_usd=0.2&sort=price&limit=200");
      const prices = cheap.listings.map(({ evidence }) => evidence.price_usd ?? "none");
      expect(prices).toEqual(
        RECORDS.map(({ evidence }) => evidence.price_usd ?? "none")
          .filter((price) => price <= "0.200000")
          .sort(),
      );
      expect((await page("?min_score=90")).total).toBe(RECORDS.filter(({ score }) => score >= 90).length);
      expect((await page(`?payee=${payee(8)}`)).listings.map(({ host }) => host)).toEqual([listing(7).host]);
      const isFound = (text: string | null) => /weather.* number 5/.test(text ?? "");
      expect((await page("?q=weather%20number%205")).total).toBe(
        RECORDS.filter(({ description }) => isFound(description)).length,
      );
      expect((await page("?q=nothing+at+all+like+it")).total).toBe(0);
      expect((await page("?q=")).total).toBe(120);
      const worst = await page("?sort=score&order=asc&limit=1");
      expect(worst.listings[0]?.score).toBe(Math.min(...RECORDS.map(({ score }) => score)));
    });

    test("walks all pages by cursor, whether or not the parameters are sent again", async () => {
      for (const repeated of ["", "sort=uptime&min_score=10&"]) {
        const hosts: string[] = [];
        let query = "?sort=uptime&min_score=10&limit=7";
        for (;;) {
          const { listings: found, next_cursor: cursor } = await page(query);
          hosts.push(...found.map(({ host }) => host));
          if (cursor === null) break;
          query = `?${repeated}limit=7&cursor=${cursor}`;
        }
        const all = await page("?sort=uptime&min_score=10&limit=200");
        expect(hosts).toEqual(all.listings.map(({ host }) => host));
      }
    });

    test("ignores unknown parameters", async () => {
      expect((await page("?colour=red&limit=1")).listings).toHaveLength(1);
    });
  });

  test("304 where the caller has the page already", async () => {
    const first = await server.call("/v1/directory?limit=1");
    const etag = first.headers.get("etag") ?? "";
    const again = await server.call("/v1/directory?limit=1", { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe("");
    expect(again.headers.get("etag")).toBe(etag);
  });

  describe("400", () => {
    const cases = [
      "min_score=101",
      "min_score=-1",
      "min_score=abc",
      "min_score=NaN",
      "min_uptime=1.1",
      "min_uptime=50%25",
      "max_price_usd=-1",
      "max_price_usd=1e3",
      "max_price_usd=0.0000001",
      "max_price_usd=cheap",
      "sort=name",
      "sort=SCORE",
      "order=up",
      "limit=0",
      "limit=201",
      "limit=1.5",
      "limit=x",
      "cursor=x",
      "cursor=AAAA",
      `q=${"x".repeat(201)}`,
      `payee=${"x".repeat(201)}`,
    ];
    test.each(cases)("for %s, with the name of the parameter", async (query) => {
      const reply = await server.call(`/v1/directory?${query}`);
      expect(reply.status).toBe(400);
      const { error } = await jsonOf<{ error: { code: string; message: string } }>(reply);
      expect(error.code).toBe("invalid_request");
      expect(error.message).toStartWith(query.split("=")[0] ?? "");
    });

    test("for a cursor of another query, of another history, or with another place", async () => {
      const { next_cursor: cursor } = await page("?sort=price&limit=2");
      expect(await refusalOf(await server.call(`/v1/directory?sort=score&cursor=${cursor}`))).toBe(
        "400 invalid_request",
      );
      const forged = (text: string) => Buffer.from(text).toString("base64url");
      for (const text of ["1.00000000.0.{}", "9.deadbeef.0.{}", "1.deadbeef.0.", "1.deadbeef.0.[1]"]) {
        expect(await refusalOf(await server.call(`/v1/directory?cursor=${forged(text)}`))).toBe(
          "400 invalid_request",
        );
      }
      const own = Buffer.from(cursor ?? "", "base64url").toString();
      const [version, digest] = own.split(".");
      const cutShort = await server.call(`/v1/directory?cursor=${forged(own.slice(0, -2))}`);
      const { error } = await jsonOf<{ error: { message: string } }>(cutShort);
      expect(error.message).toBe("cursor is not one that this server gave out.");
      const far = await page(`?cursor=${forged(`${version}.${digest}.999999999.{}`)}`);
      expect(far).toMatchObject({ listings: [], next_cursor: null });
      const reply = await server.call(
        `/v1/directory?cursor=${forged(`${version}.${digest}.0.{"sort":"__proto__"}`)}`,
      );
      expect(await refusalOf(reply)).toBe("400 invalid_request");
    });
  });

  test("405 for another method, with Allow", async () => {
    const reply = await server.call("/v1/directory", { method: "DELETE" });
    expect(await refusalOf(reply)).toBe("405 method_not_allowed");
    expect(reply.headers.get("allow")).toContain("GET");
  });
});

describe("GET /v1/directory/{host}", () => {
  test("200 with the listing alone", async () => {
    const reply = await server.call(`/v1/directory/${listing(5).host}`);
    const body = await jsonOf<TestListing>(reply);
    expect(body).toEqual(listing(5));
    expect(Value.Check(ListingView, body)).toBe(true);
    expect(reply.headers.has("age")).toBe(true);
    const etag = reply.headers.get("etag") ?? "";
    expect(
      (await server.call(`/v1/directory/${listing(5).host}`, { headers: { "If-None-Match": etag } })).status,
    ).toBe(304);
    const spelled = await server.call(`/v1/directory/${listing(5).host.toUpperCase()}.`);
    expect(spelled.status).toBe(200);
  });

  test("404 for a host without one", async () => {
    for (const host of ["nobody.example", "bad", "..%2Fetc", "%00", "__proto__"]) {
      expect(await refusalOf(await server.call(`/v1/directory/${host}`))).toBe("404 not_found");
    }
  });
});

describe("GET /v1/directory/export", () => {
  const raw = (headers: Record<string, string>) =>
    fetch(`${server.url}/v1/directory/export`, { headers, decompress: false } as RequestInit);

  test("200 with every listing as JSON lines, whose digest is the one announced", async () => {
    const reply = await raw({ "Accept-Encoding": "identity" });
    const body = await reply.text();
    expect(body).toBe(lines(RECORDS));
    expect(reply.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const digest = createHash("sha256").update(body).digest("hex");
    expect(reply.headers.get("x-directory-digest")).toBe(digest);
    expect(reply.headers.get("x-directory-count")).toBe("120");
    expect(reply.headers.get("x-directory-version")).toBe("1");
    expect(reply.headers.get("etag")).toBe(`"v1-${digest.slice(0, 8)}"`);
    for (const name of ["age", "x-directory-epoch", "x-directory-cursor"])
      expect(reply.headers.has(name)).toBe(true);
  });

  test("200 compressed where the caller accepts that", async () => {
    const reply = await raw({ "Accept-Encoding": "br, gzip;q=0.5" });
    expect(reply.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await reply.bytes()).toString()).toBe(lines(RECORDS));
    const refused = await raw({ "Accept-Encoding": "gzip;q=0, *" });
    expect(refused.headers.get("content-encoding")).toBeNull();
    await refused.body?.cancel();
  });

  test("200 as one array where the caller prefers JSON", async () => {
    const reply = await server.call("/v1/directory/export", { headers: { Accept: "application/json" } });
    expect(reply.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await jsonOf<TestListing[]>(reply)).toEqual(RECORDS);
    const equal = await server.call("/v1/directory/export", { headers: { Accept: "text/html, */*;q=0.8" } });
    expect(equal.headers.get("content-type")).toStartWith("application/x-ndjson");
    await equal.body?.cancel();
  });

  test("304 for the tag of either coding, but not for that of the other form", async () => {
    const plain = await raw({ "Accept-Encoding": "identity" });
    const packed = await raw({ "Accept-Encoding": "gzip" });
    const array = await raw({ Accept: "application/json" });
    const tags = await Promise.all(
      [plain, packed, array].map(async (reply) => {
        await reply.bytes();
        return reply.headers.get("etag") ?? "";
      }),
    );
    expect(new Set(tags).size).toBe(3);
    for (const tag of [...tags.slice(0, 2), `W/${tags[0]}`, `"x", ${tags[0]}`, "*"]) {
      const reply = await raw({ "If-None-Match": tag });
      expect(reply.status).toBe(304);
      expect(await reply.text()).toBe("");
      expect(reply.headers.has("x-directory-cursor")).toBe(true);
    }
    const other = await raw({ "If-None-Match": tags[2] ?? "" });
    expect(other.status).toBe(200);
    await other.bytes();
  });
});

describe("HEAD /v1/directory/export", () => {
  test.each(["ndjson", "json"])(
    "announces the length that GET has as %s, plain and compressed",
    async (form) => {
      for (const coding of ["identity", "gzip"]) {
        const headers = {
          Accept: `application/${form === "json" ? form : "x-ndjson"}`,
          "Accept-Encoding": coding,
        };
        const ask = (method: string) =>
          fetch(`${server.url}/v1/directory/export`, { method, headers, decompress: false } as RequestInit);
        const [head, get] = [await ask("HEAD"), await ask("GET")];
        expect(await head.text()).toBe("");
        expect(head.headers.get("content-length")).toBe(`${(await get.bytes()).length}`);
        expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
        expect(head.headers.get("content-encoding")).toBe(get.headers.get("content-encoding"));
      }
    },
  );
});

describe("GET /v1/changes", () => {
  const changes = async (query: string) => jsonOf<Changes>(await server.call(`/v1/changes${query}`));

  test("200 with every change from the first on, numbered without a gap", async () => {
    const seen: Changes["changes"] = [];
    let query = "?limit=50";
    for (;;) {
      const body = await changes(query);
      expect(Value.Check(ChangesView, body)).toBe(true);
      seen.push(...body.changes);
      query = `?limit=50&cursor=${body.next_cursor}`;
      if (!body.has_more) break;
    }
    expect(seen.map(({ seq }) => seq)).toEqual(RECORDS.map((_, at) => at + 1));
    expect(seen.map((change) => change.listing)).toEqual(RECORDS);
    expect(await changes(query)).toMatchObject({ changes: [], has_more: false });
  });

  test("200 from the export's cursor on with nothing, and 304 after that", async () => {
    const taken = await server.call("/v1/directory/export");
    await taken.text();
    const path = `/v1/changes?cursor=${taken.headers.get("x-directory-cursor")}`;
    const reply = await server.call(path);
    expect(await jsonOf<Changes>(reply)).toMatchObject({ changes: [], has_more: false });
    const etag = reply.headers.get("etag") ?? "";
    expect(reply.headers.has("age")).toBe(true);
    expect((await server.call(path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  });

  test("400 for an invalid limit or cursor", async () => {
    for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=%00", "cursor=AAAA"]) {
      expect(await refusalOf(await server.call(`/v1/changes?${query}`))).toBe("400 invalid_request");
    }
  });

  test("404 that points to the export, for another epoch and for numbers that do not exist", async () => {
    const { epoch } = await changes("?limit=1");
    for (const cursor of ["otherepoch.5", `${epoch}.121`]) {
      const reply = await server.call(`/v1/changes?cursor=${Buffer.from(cursor).toString("base64url")}`);
      expect(reply.status).toBe(404);
      expect((await jsonOf<{ error: { message: string } }>(reply)).error.message).toContain(
        "/v1/directory/export",
      );
    }
  });

  test("404 that points to it without a cursor too, where the first change of the epoch is not retained", async () => {
    using state = temporaryFolder("directory-feed");
    const source = join(state.path, "listings.ndjson");
    const path = join(state.path, "directory");
    const syncer = openSyncer({ folder: path, file: source });
    for (const count of [10, 11]) {
      writeFileSync(source, lines(listings(count)));
      await syncer.sync({ acceptTripped: false });
    }
    // What is loaded then is the state before, in an epoch that begins with it.
    writeFileSync(join(path, "current.json"), "damaged");
    await using healed = await startTestServer({
      dataDir: state.path,
      environment: { DIRECTORY_FILE: source },
    });
    const reply = await healed.call("/v1/changes");
    expect(reply.status).toBe(404);
    expect((await jsonOf<{ error: { message: string } }>(reply)).error.message).toBe(
      "Not all changes from there on are kept any more. Take /v1/directory/export and go on from its X-Directory-Cursor.",
    );
  });
});

describe("before the first snapshot", () => {
  test("503 on every path of the directory, and degraded health", async () => {
    await using waiting = await startTestServer({
      environment: { DIRECTORY_UPSTREAM: "http://127.0.0.1:1", DIRECTORY_ALLOW_PRIVATE: "true" },
    });
    for (const path of ["/v1/directory", "/v1/directory/a.example", "/v1/directory/export", "/v1/changes"]) {
      const reply = await waiting.call(path);
      expect(Number(reply.headers.get("retry-after"))).toBe(ERRORS.directory_unavailable.retryAfterSeconds);
      expect(await refusalOf(reply)).toBe("503 directory_unavailable");
    }
    const health = await waiting.call("/health");
    expect(health.status).toBe(200);
    expect(await jsonOf(health)).toMatchObject({
      status: "degraded",
      checks: { directory: { status: "warn" } },
    });
  });
});

describe("without a source", () => {
  test("the bundled sample is served: three services on reserved hosts, each marked as a sample", async () => {
    await using plain = await startTestServer();
    const { listings: samples } = await jsonOf<Page>(await plain.call("/v1/directory"));
    expect(samples).toHaveLength(3);
    for (const sample of samples) {
      expect(sample.host).toEndWith(".example");
      expect(sample.service_name).toStartWith("Sample");
      expect(sample.description).toStartWith("SAMPLE");
      expect(Value.Check(ListingView, sample)).toBe(true);
    }
    expect(samples.map(({ evidence }) => evidence.price_usd).sort()).toEqual([
      "0.002000",
      "0.010000",
      "0.050000",
    ]);
  });
});
