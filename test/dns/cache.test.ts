import { describe, expect, test } from "bun:test";
import { createDnsCache } from "../../src/dns/cache.ts";
import { emptyLookup, type Lookup, type RecordType } from "../../src/dns/lookup.ts";

const HOUR_MS = 3_600_000;

/** A cache over answers given by hand, with a clock moved by hand (its zero means "never" to the cache's library). */
function cacheOver(
  answer: (name: string, type: RecordType) => Promise<Lookup<RecordType>>,
  entriesMax = 100,
) {
  let now = 1_000_000;
  let asked = 0;
  const resolver = {
    lookUp: ((name: string, type: RecordType) => {
      asked++;
      return answer(name, type);
    }) as never,
  };
  const cache = createDnsCache({ resolver, clock: { now: () => now, monotonic: () => now }, entriesMax });
  return { cache, asked: () => asked, pass: (ms: number) => (now += ms) };
}

function addresses(ttlSeconds: number): Lookup<"A"> {
  return { outcome: "answer", records: ["8.8.8.8"], ttlSeconds, alias: false, detail: null };
}

/** How long an answer is kept, found by asking again just before and at the end. */
async function expectKept(lookup: Lookup<RecordType>, ms: number): Promise<void> {
  const { cache, asked, pass } = cacheOver(async () => lookup);
  await cache.lookUp("a.com", "A");
  pass(ms - 1);
  await cache.lookUp("a.com", "A");
  expect(asked()).toBe(1);
  pass(2);
  await cache.lookUp("a.com", "A");
  expect(asked()).toBe(2);
}

describe("the cache keeps", () => {
  test("an answer for its TTL", () => expectKept(addresses(600), 600_000));
  test("a short-lived answer for a minute", () => expectKept(addresses(1), 60_000));
  test("a long-lived answer for a day", () => expectKept(addresses(10 * 86_400), 24 * HOUR_MS));
  test("a missing name for the TTL of its SOA", () => expectKept(emptyLookup("nxdomain", 900), 900_000));
  test("a denial for at most three hours", () => expectKept(emptyLookup("nodata", 86_400), 3 * HOUR_MS));
  test("a denial without an SOA for five seconds", () => expectKept(emptyLookup("nodata", 0), 5_000));
  test("a time-out for five seconds", () => expectKept(emptyLookup("timeout"), 5_000));
  test("an error for five seconds", () => expectKept(emptyLookup("error", 0, "servfail"), 5_000));

  test("repeated failures twice as long each time, up to thirty seconds", async () => {
    const { cache, asked, pass } = cacheOver(async () => emptyLookup("timeout"));
    for (const [round, keptMs] of [5_000, 10_000, 20_000, 30_000, 30_000].entries()) {
      await cache.lookUp("a.com", "A");
      pass(keptMs - 1);
      await cache.lookUp("a.com", "A");
      expect(asked()).toBe(round + 1);
      pass(2);
    }
  });

  test("no failure of this process", async () => {
    const { cache, asked } = cacheOver(async () => emptyLookup("error", 0, "queue_full"));
    await cache.lookUp("a.com", "A");
    await cache.lookUp("a.com", "A");
    expect(asked()).toBe(2);
  });

  test("types and names apart", async () => {
    const { cache, asked } = cacheOver(async () => addresses(600));
    await cache.lookUp("a.com", "A");
    await cache.lookUp("a.com", "AAAA");
    await cache.lookUp("b.com", "A");
    expect(asked()).toBe(3);
    expect(cache.stats()).toMatchObject({ entries: 3, misses: 3 });
  });

  test("no more entries than its bound", async () => {
    const { cache } = cacheOver(async () => addresses(600), 10);
    for (let at = 0; at < 100; at++) await cache.lookUp(`d${at}.com`, "A");
    expect(cache.stats().entries).toBe(10);
  });
});

test("the cache keeps fewer entries where they are large", async () => {
  const text = "x".repeat(3_750);
  const { cache } = cacheOver(async () => ({ ...addresses(600), records: [text] }) as Lookup<RecordType>);
  for (let name = 0; name < 100; name += 1) await cache.lookUp(`${name}.com`, "TXT");
  expect(cache.stats().entries).toBe(9);
});

test("concurrent look-ups of the same name and type are one", async () => {
  const release = Promise.withResolvers<Lookup<RecordType>>();
  const { cache, asked } = cacheOver(() => release.promise);
  const lookups = Array.from({ length: 50 }, () => cache.lookUp("a.com", "A"));
  release.resolve(addresses(60));
  const found = await Promise.all(lookups);
  expect(new Set(found).size).toBe(1);
  expect(asked()).toBe(1);
  expect(cache.stats()).toMatchObject({ joined: 49, misses: 1 });
});

test("a look-up has its expiry", async () => {
  const { cache, pass } = cacheOver(async () => addresses(600));
  expect((await cache.lookUp("a.com", "A")).expiresAt).toBe(1_600_000);
  pass(100_000);
  expect((await cache.lookUp("a.com", "A")).expiresAt).toBe(1_600_000);
  expect(cache.stats().hits).toBe(1);
});
