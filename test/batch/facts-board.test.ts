import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFactsBoard, createGatherFacts, type Place } from "../../src/batch/facts-board.ts";
import { type FactsOnBoards, NO_DOMAIN, NUMBERS_PER_PLACE } from "../../src/batch/messages.ts";
import type { DomainFactsSource, KnownDomain } from "../../src/domains/facts.ts";

const known = (domain: string, padding = ""): KnownDomain => {
  const facts = {
    domain,
    mail: { state: "not_checked" as const },
    lists: { disposable: null, freeProvider: false },
  };
  return { json: JSON.stringify({ ...facts, padding }), judgement: null };
};

const read = ({ board, start, end }: Place) => Buffer.from(board.memory).toString("utf8", start, end);

describe("the board of facts", () => {
  test("gives back what was placed, and the same facts are written once", () => {
    const board = createFactsBoard(1000);
    const [a, b] = [known("a.com"), known("b.com")];
    const places = [a, b, a, b].map((domain) => board.place(domain));
    expect(places.map(read)).toEqual([a.json, b.json, a.json, b.json]);
    expect(places[2]).toBe(places[0] as Place);
    expect(places.map(({ key }) => key)).toEqual([1, 2, 1, 2]);
  });

  test("is followed by another when it is full, and what stands on the first stays", () => {
    const board = createFactsBoard(300);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const places = domains.map((domain) => board.place(domain));
    expect(new Set(places.map((place) => place.board)).size).toBeGreaterThan(5);
    expect(places.map(read)).toEqual(domains.map(({ json }) => json));
    for (const { key, board: at } of places) expect(key).toBeGreaterThanOrEqual(at.firstKey);
  });

  test("is written again where what it stood on is too old, so that the boards are bounded", () => {
    const board = createFactsBoard(300, 4);
    const domains = Array.from({ length: 20 }, (_, n) => known(`d${n}.com`));
    const places = domains.map((domain) => board.place(domain));
    const again = domains.map((domain) => board.place(domain));
    expect(again.map(read)).toEqual(domains.map(({ json }) => json));
    expect(again.at(-1)?.key).toBeGreaterThan(places.at(-1)?.key ?? 0);
    expect(board.place(domains.at(-1) as KnownDomain)).toBe(again.at(-1) as Place);
    expect(new Set(again.slice(-8).map((place) => place.board)).size).toBeLessThanOrEqual(4);
  });

  test("takes any facts, however long, in whatever script", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 8 }), (paddings) => {
        const board = createFactsBoard(256);
        const domains = paddings.map((padding, n) => known(`d${n}.com`, padding));
        const places = domains.map((domain) => board.place(domain));
        expect(places.map(read)).toEqual(domains.map(({ json }) => json));
      }),
      { numRuns: 200 },
    );
  });
});

describe("the facts of a batch", () => {
  /** Knows the domains that begin with a k; the others are answered when the test says so. */
  function source() {
    const answers = new Map<string, () => void>();
    const findDomain = (domain: string) =>
      new Promise<KnownDomain>((resolve) => answers.set(domain, () => resolve(known(domain))));
    const knownDomain = (domain: string) => (domain.startsWith("k") ? known(domain) : undefined);
    return { answers, source: { findDomain, knownDomain } as unknown as DomainFactsSource };
  }
  const options = { deep: false, dns: true, deadlineMs: Number.POSITIVE_INFINITY };

  const chunk = (newDomains: string, ...numbers: readonly number[]) => ({
    newDomains,
    domainNumbers: Uint32Array.from(numbers),
  });

  function domainsOn({ boards, places }: FactsOnBoards, count: number): (string | null)[] {
    const numbers = new Float64Array(places);
    return Array.from({ length: count }, (_, number) => {
      const [key = 0, start = 0, end = 0] = numbers.subarray(number * NUMBERS_PER_PLACE);
      const board = boards.findLast(({ firstKey }) => firstKey <= key);
      return board === undefined ? null : JSON.parse(read({ board, key, start, end })).domain;
    });
  }

  test("stand by the numbers of the domains, whatever is answered first, on whichever board", async () => {
    const { answers, source: facts } = source();
    const gather = createGatherFacts(facts, createFactsBoard(200), 8);
    const factsWith = gather(options);
    const first = factsWith(chunk("a.com\nk1.com\nb.com", 0, 1, 2, NO_DOMAIN));
    const second = factsWith(chunk("k2.com\nc.com", 0, 1, 2, 3, 4));
    for (const domain of ["c.com", "b.com", "a.com"]) answers.get(domain)?.();
    expect(domainsOn(await second, 5)).toEqual(["a.com", "k1.com", "b.com", "k2.com", "c.com"]);
    expect(domainsOn(await first, 3)).toEqual(["a.com", "k1.com", "b.com"]);
  });

  test("are handed to a chunk when those of the chunks before it are known too", async () => {
    const { answers, source: facts } = source();
    const factsWith = createGatherFacts(facts, createFactsBoard(), 8)(options);
    void factsWith(chunk("a.com", 0));
    let isHanded = false;
    const later = factsWith(chunk("k.com", 0, 1)).then((on) => {
      isHanded = true;
      return on;
    });
    await Bun.sleep(0);
    expect(isHanded).toBe(false);
    answers.get("a.com")?.();
    expect(domainsOn(await later, 2)).toEqual(["a.com", "k.com"]);
  });

  test("are handed over with the boards that the chunk needs, in the order of their keys", async () => {
    const factsBoard = createFactsBoard(200);
    const facts = [known("k1.com"), known("k2.com"), known("k3.com")];
    for (const domain of facts) factsBoard.place(domain);
    const knownDomain = (domain: string) => facts.find((one) => JSON.parse(one.json).domain === domain);
    const gather = createGatherFacts({ knownDomain } as unknown as DomainFactsSource, factsBoard, 8);
    const factsWith = gather(options);
    const all = await factsWith(chunk("k3.com\nk1.com\nk2.com", 0, 1, 2));
    const keys = all.boards.map(({ firstKey }) => firstKey);
    expect(keys.length).toBeGreaterThan(1);
    expect(keys).toEqual(keys.toSorted((a, b) => a - b));
    expect(domainsOn(all, 3)).toEqual(["k3.com", "k1.com", "k2.com"]);
    expect((await factsWith(chunk("", 1, 1))).boards.length).toBe(1);
    expect((await factsWith(chunk("", NO_DOMAIN))).boards).toEqual([]);
  });

  test("stand by keys of more than 32 bits in a server that has run for long", async () => {
    const text = known("a.com").json;
    const memory = new SharedArrayBuffer(1000);
    Buffer.from(memory).write(text);
    const place = { board: { firstKey: 2 ** 32 - 1, memory }, key: 2 ** 32, start: 0, end: text.length };
    const gather = createGatherFacts(source().source, { place: () => place }, 8);
    expect(domainsOn(await gather(options)(chunk("k.com", 0)), 1)).toEqual(["a.com"]);
  });

  test("are looked up so many at a time and no more", async () => {
    const { answers, source: facts } = source();
    const factsWith = createGatherFacts(facts, createFactsBoard(), 2)(options);
    const found = factsWith(chunk("a.com\nb.com\nc.com", 0, 1, 2));
    expect(answers.size).toBe(2);
    for (const answer of answers.values()) answer();
    await Bun.sleep(0);
    expect(answers.size).toBe(3);
    for (const answer of answers.values()) answer();
    expect(domainsOn(await found, 3)).toEqual(["a.com", "b.com", "c.com"]);
  });
});
