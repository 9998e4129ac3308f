import { describe, expect, test } from "bun:test";
import { SORT_FIELDS } from "../../src/contract/words.ts";
import type { Listing } from "../../src/directory/listing.ts";
import { createDictionary } from "../../src/directory/snapshot/dictionary.ts";
import { findMatches } from "../../src/directory/snapshot/matches.ts";
import { type DirectoryQuery, type QueryParameters, queryOf } from "../../src/directory/snapshot/query.ts";
import { createRow } from "../../src/directory/snapshot/row.ts";
import { createSegmentWriter } from "../../src/directory/snapshot/shared-bytes.ts";
import { findHost, rowBytes, type Snapshot } from "../../src/directory/snapshot/snapshot.ts";
import {
  buildIndex,
  buildRows,
  digestOf,
  sortedByHost,
} from "../../src/directory/snapshot/snapshot-build.ts";
import { listing, listings, payee, type TestListing } from "../support/directory.ts";

function snapshotOf(records: readonly TestListing[]): Snapshot {
  const writer = createSegmentWriter();
  const dictionary = createDictionary();
  const rows = sortedByHost(
    records.map((record) => createRow(record as never as Listing, null, undefined, { writer, dictionary })),
  );
  writer.finish();
  const identity = { version: 1, digest: digestOf(rows), feed: { epoch: "e", seq: 0 } };
  return { ...buildRows(rows, identity), ...buildIndex(rows, dictionary) };
}

function found(snapshot: Snapshot, query: DirectoryQuery, limit = 1000): TestListing[] {
  const { rows } = findMatches(snapshot, query, 0, limit);
  return rows.map((row) => JSON.parse(new TextDecoder().decode(rowBytes(snapshot, row))));
}

const RECORDS = listings(300);
const SNAPSHOT = snapshotOf([...RECORDS].reverse());

const VALUE: Record<(typeof SORT_FIELDS)[number], (record: TestListing) => number | null> = {
  score: (record) => record.score,
  price: ({ evidence }) => (evidence.price_usd === null ? null : Number(evidence.price_usd)),
  uptime: ({ evidence }) => evidence.uptime_30d,
  latency: ({ evidence }) => evidence.median_latency_ms,
  payers: ({ evidence }) => evidence.payers_30d,
  last_paid: ({ evidence }) => (evidence.last_paid === null ? null : Date.parse(evidence.last_paid)),
};

describe("sorting", () => {
  const cases = SORT_FIELDS.flatMap((sort) => [[sort, "asc"] as const, [sort, "desc"] as const]);
  test.each(cases)("by %s %s: values, then hosts, those without a value last", (sort, order) => {
    const turn = order === "asc" ? 1 : -1;
    const readValue = VALUE[sort];
    const expected = RECORDS.map((record) => ({ host: record.host, value: readValue(record) })).sort(
      (a, b) => {
        if (a.value === null || b.value === null) {
          if (a.value !== b.value) return a.value === null ? 1 : -1;
        } else if (a.value !== b.value) return (a.value - b.value) * turn;
        return a.host < b.host ? -1 : 1;
      },
    );
    const hosts = found(SNAPSHOT, queryOf({ sort, order })).map((record) => record.host);
    expect(hosts).toEqual(expected.map((entry) => entry.host));
  });

  test("shows the best first by default", () => {
    for (const sort of ["score", "uptime", "payers", "last_paid"] as const) {
      expect(queryOf({ sort }).order).toBe("desc");
    }
    for (const sort of ["price", "latency"] as const) expect(queryOf({ sort }).order).toBe("asc");
    expect(queryOf({})).toMatchObject({ sort: "score", order: "desc", words: null });
  });
});

describe("filters", () => {
  const hostsOf = (records: readonly TestListing[]) => records.map((record) => record.host).sort();
  test("by score, price and uptime include the bound itself", () => {
    expect(hostsOf(found(SNAPSHOT, queryOf({ min_score: 37 })))).toEqual(
      hostsOf(RECORDS.filter((record) => record.score >= 37)),
    );
    expect(hostsOf(found(SNAPSHOT, queryOf({ min_uptime: 0.5 })))).toEqual(
      hostsOf(RECORDS.filter(({ evidence }) => (evidence.uptime_30d ?? -1) >= 0.5)),
    );
    const bound = RECORDS[5]?.evidence.price_usd ?? "";
    expect(hostsOf(found(SNAPSHOT, queryOf({ max_price_usd: bound })))).toEqual(
      hostsOf(RECORDS.filter(({ evidence }) => evidence.price_usd !== null && evidence.price_usd <= bound)),
    );
  });
  test("compare prices as integers, not as floating point or text", () => {
    const priced = (price: string, n: number) =>
      listing(n, (record) => {
        record.evidence.price_usd = price;
      });
    const snapshot = snapshotOf([priced("0.100000", 1), priced("0.300000", 2), priced("10.000000", 3)]);
    expect(found(snapshot, queryOf({ max_price_usd: "0.3" }))).toHaveLength(2);
    expect(found(snapshot, queryOf({ max_price_usd: "0.299999" }))).toHaveLength(1);
    expect(found(snapshot, queryOf({ max_price_usd: "9" }))).toHaveLength(2);
    expect(found(snapshot, queryOf({ max_price_usd: "10" }))).toHaveLength(3);
  });
  test("by payee find an EVM address in any case and a base58 one as it is", () => {
    const base58 = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const mixed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const snapshot = snapshotOf(
      [base58, mixed, payee(9)].map((address, n) =>
        listing(n, (record) => {
          record.evidence.pay_to = address;
        }),
      ),
    );
    for (const spelling of [mixed, mixed.toLowerCase(), mixed.toUpperCase().replace("X", "x")]) {
      expect(found(snapshot, queryOf({ payee: spelling }))).toHaveLength(1);
    }
    expect(found(snapshot, queryOf({ payee: base58 }))).toHaveLength(1);
    expect(found(snapshot, queryOf({ payee: base58.toLowerCase() }))).toHaveLength(0);
    expect(found(snapshot, queryOf({ payee: "nobody" }))).toHaveLength(0);
  });
});

describe("search", () => {
  const named = (n: number, name: string | null, description: string) =>
    listing(n, (record) => {
      record.service_name = name;
      record.description = description;
    });
  const snapshot = snapshotOf([
    named(1, "Café Traduction", "Translates documents"),
    named(2, null, "Weather, hourly; translation of reports"),
    named(3, "Weathervane", "__proto__ constructor toString"),
    named(4, "天気 API", "ＦＵＬＬ width"),
    named(5, null, `a${"𒀀".repeat(20)} first`),
    named(6, null, `a${"𒀀".repeat(20)} second`),
  ]);
  const names = (q: string) => found(snapshot, queryOf({ q })).map((record) => record.host.slice(8, 13));
  test("finds all words, the last as a prefix, in any case and without accents", () => {
    expect(names("weather").sort()).toEqual(["00002", "00003"]);
    expect(names("WEATHER hour")).toEqual(["00002"]);
    expect(names("hourly weather").sort()).toEqual(["00002"]);
    expect(names("cafe")).toEqual(["00001"]);
    expect(names("transl").sort()).toEqual(["00001", "00002"]);
    expect(names("transl weather")).toEqual([]);
    expect(names("天気")).toEqual(["00004"]);
    expect(names("full")).toEqual(["00004"]);
    expect(names("service 00003")).toEqual(["00003"]);
  });
  test("finds a word that is truncated inside a surrogate pair", () => {
    expect(names(`a${"𒀀".repeat(20)}`).sort()).toEqual(["00005", "00006"]);
    expect(names(`a${"𒀀".repeat(20)} second`)).toEqual(["00006"]);
  });
  test("treats prototype keys and punctuation as plain text", () => {
    expect(names("constructor")).toEqual(["00003"]);
    expect(names("__proto__")).toEqual(["00003"]);
    expect(names("hasownproperty")).toEqual([]);
    expect(names("!!!")).toEqual([]);
  });
  test("finds what a full scan finds", () => {
    for (const q of ["maps 1", "image sear", "number 2", "service", "chat completions"]) {
      const [last = "", ...others] = q.split(" ").reverse();
      const expected = RECORDS.filter((record) => {
        const text = `${record.host} ${record.service_name ?? ""} ${record.description} v1 run`.toLowerCase();
        const words = text.split(/[^a-z0-9]+/);
        return others.every((word) => words.includes(word)) && words.some((word) => word.startsWith(last));
      });
      expect(found(SNAPSHOT, queryOf({ q })).length).toBe(expected.length);
    }
  });
});

describe("pages", () => {
  test("contain every match once, whatever their length", () => {
    const query = queryOf({ min_score: 20, sort: "latency" });
    const all = findMatches(SNAPSHOT, query, 0, 1000);
    for (const limit of [1, 7, 64]) {
      const rows: number[] = [];
      for (let place: number | null = 0; place !== null; ) {
        const page = findMatches(SNAPSHOT, query, place, limit);
        expect(page.total).toBe(all.total);
        rows.push(...page.rows);
        place = page.nextPlace;
      }
      expect(rows).toEqual([...all.rows]);
    }
  });
});

describe("filtered results", () => {
  /** Small sizes, where sets of 32 rows have their borders, and one with many steps of bounds. */
  const sizes = [0, 1, 2, 31, 32, 33, 64, 65, 97, 300];
  const bounds = [0, 1, 36, 37, 50, 99, 100] as const;
  const queries: readonly QueryParameters[] = SORT_FIELDS.flatMap((sort, at) =>
    (["asc", "desc"] as const).flatMap((order) =>
      bounds.map((bound) => ({
        sort,
        order,
        ...(at % 2 === 0 || bound % 2 === 0 ? { min_score: bound } : {}),
        ...(at % 3 !== 0 ? { min_uptime: bound / 100 } : {}),
        ...(at % 2 === 1 ? { max_price_usd: `0.${String(bound * 9999).padStart(6, "0")}` } : {}),
        ...(bound === 36 ? { q: "number" } : {}),
        ...(bound === 50 ? { q: "maps s" } : {}),
        ...(bound === 99 ? { payee: payee(5) } : {}),
      })),
    ),
  );
  test.each(sizes)("of %d listings equal a full scan of the sort order, page by page", (size) => {
    const snapshot = snapshotOf(listings(size));
    for (const parameters of queries) {
      const { sort = "score", order = "asc" } = parameters;
      const all = found(snapshot, queryOf({ sort, order }));
      const expected = all.filter((record) => passes(record, parameters)).map((record) => record.host);
      expect(found(snapshot, queryOf(parameters)).map((record) => record.host)).toEqual(expected);
      expect(findMatches(snapshot, queryOf(parameters), 0, 1).total).toBe(expected.length);
      expect(walk(snapshot, queryOf(parameters), 7)).toEqual(expected);
    }
  });

  function passes(record: TestListing, { q, payee: address, ...parameters }: QueryParameters): boolean {
    const { price_usd: price, uptime_30d: uptime, pay_to: payTo } = record.evidence;
    const words = `${record.host} ${record.service_name ?? ""} ${record.description} v1 run`
      .toLowerCase()
      .split(/[^a-z0-9]+/);
    const [last = "", ...others] = (q ?? "").split(" ").reverse();
    return (
      record.score >= (parameters.min_score ?? 0) &&
      (parameters.min_uptime === undefined || (uptime !== null && uptime >= parameters.min_uptime)) &&
      (parameters.max_price_usd === undefined || (price !== null && price <= parameters.max_price_usd)) &&
      (address === undefined || payTo === address) &&
      others.every((word) => words.includes(word)) &&
      words.some((word) => word.startsWith(last))
    );
  }

  function walk(snapshot: Snapshot, query: DirectoryQuery, limit: number): string[] {
    const hosts: string[] = [];
    for (let place: number | null = 0; place !== null; ) {
      const page = findMatches(snapshot, query, place, limit);
      expect(page.rows.length).toBeLessThanOrEqual(limit);
      const texts = page.rows.map((row) => new TextDecoder().decode(rowBytes(snapshot, row)));
      hosts.push(...texts.map((text) => (JSON.parse(text) as TestListing).host));
      place = page.nextPlace;
    }
    return hosts;
  }
});

test("every host is found, and no other", () => {
  for (const { host } of RECORDS) expect(findHost(SNAPSHOT, host)).toBeGreaterThanOrEqual(0);
  for (const host of ["", "a.example", "service-00300.example", "zz.example"])
    expect(findHost(SNAPSHOT, host)).toBe(-1);
});
