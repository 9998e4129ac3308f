import { describe, expect, test } from "bun:test";
import { createGatherFacts } from "../../src/batch/gather-facts.ts";
import { NO_DOMAIN, NUMBERS_PER_OFFSET, type SharedFacts } from "../../src/batch/messages.ts";
import { createFactsBuffer } from "../../src/batch/shared-facts.ts";
import type { DomainFactsSource, FactsOptions } from "../../src/domains/facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { known, read } from "./known-facts.ts";

const tenant = "one";

describe("the facts of a batch", () => {
  /** Knows the domains that begin with a k; the others are answered when the test says so. */
  function source() {
    const answers = new Map<string, () => void>();
    const findDomain = (domain: string) =>
      new Promise<KnownDomain>((resolve) => answers.set(domain, () => resolve(known(domain))));
    const knownDomain = (domain: string) => (domain.startsWith("k") ? known(domain) : undefined);
    return { answers, source: { findDomain, knownDomain } as unknown as DomainFactsSource };
  }
  const { signal } = new AbortController();
  const options = { deep: false, dns: true, tenant, deadlineMs: () => Number.POSITIVE_INFINITY, signal };

  const chunk = (newDomains: string, ...numbers: readonly number[]) => ({
    newDomains,
    domainNumbers: Uint32Array.from(numbers),
  });

  function domainAt({ buffers, offsets }: SharedFacts, number: number): string | null {
    const [key = 0, start = 0, end = 0] = new Float64Array(offsets).subarray(number * NUMBERS_PER_OFFSET);
    const buffer = buffers.findLast(({ firstKey }) => firstKey <= key);
    return buffer === undefined ? null : JSON.parse(read({ buffer, key, start, end })).domain;
  }

  const domainsOn = (facts: SharedFacts, count: number) =>
    Array.from({ length: count }, (_, number) => domainAt(facts, number));

  test("are known or not as of one moment for a whole chunk, which is one look at the clock", async () => {
    const asked: (number | undefined)[] = [];
    const knownDomain = (domain: string, _options: FactsOptions, nowMs?: number) => {
      asked.push(nowMs);
      return known(domain);
    };
    let nowMs = 0;
    const clock = { now: () => 0, monotonic: () => ++nowMs };
    const facts = { knownDomain } as unknown as DomainFactsSource;
    const factsOf = createGatherFacts(facts, createFactsBuffer(), 8, clock)(options);
    await factsOf(chunk("a.com\nb.com\nc.com", 0, 1, 2));
    await factsOf(chunk("d.com", 3));
    expect(asked).toEqual([1, 1, 1, 2]);
  });

  test("are found by the numbers of the domains, whatever is answered first, on whichever buffer", async () => {
    const { answers, source: facts } = source();
    const gather = createGatherFacts(facts, createFactsBuffer(200), 8, systemClock);
    const factsOf = gather(options);
    const first = factsOf(chunk("a.com\nk1.com\nb.com", 0, 1, 2, NO_DOMAIN));
    const second = factsOf(chunk("k2.com\nc.com", 0, 1, 2, 3, 4));
    for (const domain of ["c.com", "b.com", "a.com"]) answers.get(domain)?.();
    expect(domainsOn(await second, 5)).toEqual(["a.com", "k1.com", "b.com", "k2.com", "c.com"]);
    expect(domainsOn(await first, 3)).toEqual(["a.com", "k1.com", "b.com"]);
  });

  test("are known to a chunk when those of the chunks before it are known too", async () => {
    const { answers, source: facts } = source();
    const factsOf = createGatherFacts(facts, createFactsBuffer(), 8, systemClock)(options);
    void factsOf(chunk("a.com", 0));
    let isThere = false;
    const later = factsOf(chunk("k.com", 0, 1)).then((on) => {
      isThere = true;
      return on;
    });
    await Bun.sleep(0);
    expect(isThere).toBe(false);
    answers.get("a.com")?.();
    expect(domainsOn(await later, 2)).toEqual(["a.com", "k.com"]);
  });

  test("are looked up by the deadline of the chunk that has one of its own", async () => {
    const deadlines: (number | undefined)[] = [];
    const findDomain = async (domain: string, { deadlineMs }: FactsOptions) => {
      deadlines.push(deadlineMs);
      return known(domain);
    };
    const facts = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
    const factsOf = createGatherFacts(
      facts,
      createFactsBuffer(),
      8,
      systemClock,
    )({ ...options, deadlineMs: () => 10 });
    await factsOf({ ...chunk("a.com", 0), deadlineMs: 5 });
    await factsOf(chunk("b.com", 1));
    expect(deadlines).toEqual([5, 10]);
  });

  test("tell of each failed look-up, cached or not, when it expires", async () => {
    const failed = (domain: string, expiresAtMs: number) => ({
      ...known(domain),
      isFailure: true,
      expiresAtMs,
    });
    const facts = {
      findDomain: async (domain: string) => (domain === "a.com" ? failed(domain, 5_000) : known(domain)),
      knownDomain: (domain: string) => (domain === "b.com" ? failed(domain, 9_000) : undefined),
    } as unknown as DomainFactsSource;
    const failures: number[] = [];
    const onFailure = (expiresAtMs: number) => void failures.push(expiresAtMs);
    const factsOf = createGatherFacts(facts, createFactsBuffer(), 8, systemClock)({ ...options, onFailure });
    await factsOf(chunk("a.com\nb.com\nc.com", 0, 1, 2));
    expect(failures.sort()).toEqual([5_000, 9_000]);
  });

  test("come with the buffers that the chunk needs, in the order of their keys", async () => {
    const factsBuffer = createFactsBuffer(200);
    const facts = [known("k1.com"), known("k2.com"), known("k3.com")];
    for (const domain of facts) factsBuffer.put(domain);
    const knownDomain = (domain: string) => facts.find((one) => JSON.parse(one.json).domain === domain);
    const gather = createGatherFacts(
      { knownDomain } as unknown as DomainFactsSource,
      factsBuffer,
      8,
      systemClock,
    );
    const factsOf = gather(options);
    const all = await factsOf(chunk("k3.com\nk1.com\nk2.com", 0, 1, 2));
    const keys = all.buffers.map(({ firstKey }) => firstKey);
    expect(keys.length).toBeGreaterThan(1);
    expect(keys).toEqual(keys.toSorted((a, b) => a - b));
    expect(domainsOn(all, 3)).toEqual(["k3.com", "k1.com", "k2.com"]);
    expect((await factsOf(chunk("", 1, 1))).buffers.length).toBe(1);
    expect((await factsOf(chunk("", NO_DOMAIN))).buffers).toEqual([]);
  });

  test("have keys of more than 32 bits in a server that has run for long", async () => {
    const text = known("a.com").json;
    const memory = new SharedArrayBuffer(1000);
    Buffer.from(memory).write(text);
    const put = { buffer: { firstKey: 2 ** 32 - 1, memory }, key: 2 ** 32, start: 0, end: text.length };
    const gather = createGatherFacts(source().source, { put: () => put }, 8, systemClock);
    expect(domainsOn(await gather(options)(chunk("k.com", 0)), 1)).toEqual(["a.com"]);
  });

  test("are looked up in order, at most `lookupsMax` at a time, however many chunks there are", async () => {
    const { answers, source: facts } = source();
    const factsOf = createGatherFacts(facts, createFactsBuffer(), 2, systemClock)(options);
    const first = factsOf(chunk("a.com\nb.com\nc.com", 0, 1, 2));
    const second = factsOf(chunk("d.com\ne.com", 3, 4));
    const answered = async (domain: string) => {
      answers.get(domain)?.();
      await Bun.sleep(0);
      return [...answers.keys()].join(" ");
    };
    expect([...answers.keys()].join(" ")).toBe("a.com b.com");
    expect(await answered("b.com")).toBe("a.com b.com c.com");
    expect(await answered("a.com")).toBe("a.com b.com c.com d.com");
    expect(await answered("d.com")).toBe("a.com b.com c.com d.com e.com");
    await Promise.all([answered("c.com"), answered("e.com")]);
    expect(domainsOn(await first, 3)).toEqual(["a.com", "b.com", "c.com"]);
    expect(domainsOn(await second, 5)).toEqual(["a.com", "b.com", "c.com", "d.com", "e.com"]);
  });

  test("keep their offsets when there are more domains than there was room for", async () => {
    const { source: facts } = source();
    const factsOf = createGatherFacts(facts, createFactsBuffer(2000), 8, systemClock)(options);
    const names = Array.from({ length: 1000 }, (_, n) => `k${n}.com`);
    for (let from = 0; from < names.length; from += 100) {
      const added = names.slice(from, from + 100);
      const numbers = added.map((_, n) => from + n);
      const asked = [0, Math.floor(from / 2), Math.max(0, from - 1), ...numbers];
      const on = await factsOf(chunk(added.join("\n"), ...asked));
      for (const number of asked) expect(domainAt(on, number)).toBe(names[number] ?? "");
    }
  });

  test("are looked up with the deadline of the moment, and with the signal that ends them", async () => {
    const asked: FactsOptions[] = [];
    const findDomain = async (domain: string, given: FactsOptions) => {
      asked.push(given);
      return known(domain);
    };
    const facts = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
    let deadlineMs = 100;
    const factsOf = createGatherFacts(
      facts,
      createFactsBuffer(),
      1,
      systemClock,
    )({ ...options, tenant, deadlineMs: () => deadlineMs });
    await factsOf(chunk("a.com", 0));
    deadlineMs = 200;
    await factsOf(chunk("b.com", 1));
    expect(asked).toEqual([
      { deep: false, dns: true, tenant, deadlineMs: 100, signal },
      { deep: false, dns: true, tenant, deadlineMs: 200, signal },
    ]);
  });

  test("are looked up no more once the batch is given up, and those who wait for them fail", async () => {
    const { answers, source: facts } = source();
    const stop = new AbortController();
    const factsOf = createGatherFacts(
      facts,
      createFactsBuffer(),
      1,
      systemClock,
    )({ ...options, signal: stop.signal });
    const found = factsOf(chunk("a.com\nb.com\nc.com", 0, 1, 2));
    stop.abort();
    answers.get("a.com")?.();
    await expect(found).rejects.toThrow("abort");
    await Bun.sleep(0);
    expect([...answers.keys()]).toEqual(["a.com"]);
  });

  test("leave turns to other work where none of them is waited for", async () => {
    const findDomain = async (domain: string) => known(domain);
    const facts = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
    const names = Array.from({ length: 2000 }, (_, n) => `d${n}.com`);
    let turns = 0;
    let isGathered = false;
    const count = () => {
      turns += 1;
      if (!isGathered) setImmediate(count);
    };
    setImmediate(count);
    await createGatherFacts(facts, createFactsBuffer(), 256, systemClock)(options)(
      chunk(names.join("\n"), 0),
    );
    isGathered = true;
    expect(turns).toBeGreaterThan(5);
  });

  test("are begun 32 in a turn, however many a chunk needs", async () => {
    const { answers, source: facts } = source();
    const names = Array.from({ length: 100 }, (_, n) => `d${n}.com`);
    void createGatherFacts(facts, createFactsBuffer(), 256, systemClock)(options)(chunk(names.join("\n"), 0));
    const begun: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      begun.push(answers.size);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(begun).toEqual([32, 64, 96, 100]);
  });

  test("fail where they cannot be put down, and keep nobody waiting", async () => {
    const put = () => {
      throw new RangeError("Out of memory");
    };
    const findDomain = async (domain: string) => known(domain);
    const facts = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
    const factsOf = createGatherFacts(facts, { put }, 1, systemClock)(options);
    await expect(factsOf(chunk("a.com\nb.com", 0, 1))).rejects.toThrow("Out of memory");
    await expect(factsOf(chunk("c.com", 2))).rejects.toThrow("Out of memory");
  });

  test("fail where a look-up fails, which none should, and keep nobody waiting", async () => {
    const findDomain = () => Promise.reject(new Error("no facts"));
    const facts = { findDomain, knownDomain: () => undefined } as unknown as DomainFactsSource;
    const factsOf = createGatherFacts(facts, createFactsBuffer(), 1, systemClock)(options);
    await expect(factsOf(chunk("a.com\nb.com", 0, 1))).rejects.toThrow("no facts");
  });
});
