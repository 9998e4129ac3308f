import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createDnsCache } from "../../src/dns/cache.ts";
import type { RecordType, Resolver } from "../../src/dns/lookup.ts";
import { createDomainFacts, type DomainFactsSource, type FactsOptions } from "../../src/domains/facts.ts";
import { factsIn } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { DomainFacts } from "../../src/verification/email/domain-facts.ts";
import { type ResolverUnderTest, startDns } from "../support/dns-server.ts";

/** What else the machine does can only lengthen a wait, so that one good try of four shows it. */
const RETRIED = { retry: 3 };

const PLAIN = { dns: true, deep: false };
const DEEP = { dns: true, deep: true };
const OFFLINE = { dns: false, deep: false };

const ZONE = `
one.com MX 10 mx.one.com
one.com TXT "v=spf1 mx -all"
_dmarc.one.com TXT "v=DMARC1; p=quarantine; sp=none; np=reject"
mx.one.com A 8.8.8.8
short.com 90 MX 10 mx.one.com
late.com MX 10 mx.one.com
late.com !delay 300
slow-policy.com MX 10 mx.one.com
slow-policy.com TXT !delay 400
slow-host.com MX 10 slow.slow-host.com
slow.slow-host.com A !delay 400
silent.com !silent
listed.com MX 10 mx.throwaway.com
mx.throwaway.com A 8.8.8.8
`;

type Setting = AsyncDisposable & {
  readonly facts: DomainFactsSource & {
    /** What is found, read. */
    readonly factsOf: (domain: string, options: FactsOptions) => Promise<DomainFacts>;
    /** What is known, read. */
    readonly cachedFacts: (domain: string, options: FactsOptions) => DomainFacts | undefined;
  };
  readonly dns: ResolverUnderTest;
  /** Moves the clock on. */
  readonly pass: (ms: number) => void;
  readonly nowMs: () => number;
};

async function startFacts(): Promise<Setting> {
  let passedMs = 0;
  const nowMs = () => systemClock.monotonic() + passedMs;
  const clock = { now: systemClock.now, monotonic: nowMs };
  const dns = await startDns(ZONE, { attemptTimeoutsMs: [600] });
  const lists = {
    listsOf: (_domain: string, hosts: readonly string[]) => ({
      disposable: hosts.includes("mx.throwaway.com") ? ("mail_host" as const) : null,
      freeProvider: false,
    }),
  };
  const cache = createDnsCache({ resolver: dns.resolver, clock });
  const source = createDomainFacts({ cache, lists, clock });
  return {
    facts: {
      ...source,
      factsOf: async (domain, options) => factsIn(await source.findDomain(domain, options)),
      cachedFacts: (domain, options) => {
        const known = source.knownDomain(domain, options);
        return known && factsIn(known);
      },
    },
    dns,
    pass: (ms) => {
      passedMs += ms;
    },
    nowMs,
    [Symbol.asyncDispose]: () => dns[Symbol.asyncDispose](),
  };
}

describe("facts", () => {
  test("contain the routing and the lists of its hosts, and nothing that was not requested", async () => {
    await using setting = await startFacts();
    expect(await setting.facts.factsOf("listed.com", PLAIN)).toEqual({
      domain: "listed.com",
      mail: {
        state: "mx",
        hosts: ["mx.throwaway.com"],
        targets: "public",
        cname: false,
        partlyDead: false,
        nullMixed: false,
      },
      lists: { disposable: "mail_host", freeProvider: false },
    });
  });

  test("of a deep request contain SPF and DMARC", async () => {
    await using setting = await startFacts();
    expect((await setting.facts.factsOf("one.com", DEEP)).policy).toEqual({
      spf: { state: "found", all: "-", sendsNoMail: false },
      dmarc: { state: "found", policy: "quarantine" },
    });
    expect((await setting.facts.factsOf("one.com", PLAIN)).policy).toBeUndefined();
  });

  test("of a sub-domain that does not exist have the policy for such", async () => {
    await using setting = await startFacts();
    const { mail, policy } = await setting.facts.factsOf("gone.one.com", DEEP);
    expect(mail.state).toBe("no_domain");
    expect(policy?.dmarc).toEqual({ state: "found", policy: "reject" });
  });

  test("without DNS cause no query and are cached", async () => {
    await using setting = await startFacts();
    const first = await setting.facts.factsOf("one.com", OFFLINE);
    expect(first.mail).toEqual({ state: "not_checked" });
    expect(setting.facts.cachedFacts("one.com", { dns: false, deep: true })).toEqual(first);
    expect(setting.dns.server.queryCount()).toBe(0);
  });
});

describe("cached facts", () => {
  test("are fewer where they are large: a domain may name 4 KB of exchangers", async () => {
    const exchangers = Array.from({ length: 64 }, (_, at) => ({
      preference: at,
      exchange: `${`${at}`.padStart(60, "x")}.${"y".repeat(60)}.com`,
    }));
    const answerOf = (type: RecordType) => ({
      outcome: "answer",
      records: type === "MX" ? exchangers : ["8.8.8.8"],
      ttlSeconds: 600,
      alias: false,
      detail: null,
    });
    const resolver = { lookUp: (async (_, type) => answerOf(type)) as Resolver["lookUp"] };
    const cache = createDnsCache({ resolver, clock: systemClock });
    const lists = { listsOf: () => ({ disposable: null, freeProvider: false }) };
    const facts = createDomainFacts({ cache, lists, clock: systemClock, entriesMax: 100 });
    for (let at = 0; at < 100; at += 1) await facts.findDomain(`${at}.com`, PLAIN);
    expect(facts.stats().entries).toBe(11);
  });

  test("are missing at first, then the same object and text until they expire", async () => {
    await using setting = await startFacts();
    expect(setting.facts.cachedFacts("one.com", PLAIN)).toBeUndefined();
    const found = await setting.facts.findDomain("one.com", PLAIN);
    expect(setting.facts.knownDomain("one.com", PLAIN)).toBe(found);
    expect(await setting.facts.findDomain("one.com", PLAIN)).toBe(found);
    expect(setting.facts.cachedFacts("one.com", PLAIN)).toEqual(factsIn(found));
    expect(found.json).toBe(JSON.stringify(factsIn(found)));
    expect(setting.facts.cachedFacts("one.com", DEEP)).toBeUndefined();
  });

  test("are known until they expire, by the time that is given where one is", async () => {
    await using setting = await startFacts();
    const { expiresAtMs } = await setting.facts.findDomain("one.com", PLAIN);
    expect(setting.facts.knownDomain("one.com", PLAIN, expiresAtMs - 1)).toBeDefined();
    expect(setting.facts.knownDomain("one.com", PLAIN, expiresAtMs)).toBeUndefined();
  });

  test("are at hand to those who waited for them, and parsed from their text after that turn", async () => {
    await using setting = await startFacts();
    const [found, joined] = await Promise.all([
      setting.facts.findDomain("one.com", PLAIN),
      setting.facts.findDomain("one.com", PLAIN),
    ]);
    expect(joined).toBe(found);
    const atHand = found.facts;
    expect(atHand).toEqual(JSON.parse(found.json));
    expect(factsIn(found)).toBe(atHand as DomainFacts);
    await nextTurn();
    expect(found.facts).toBeNull();
    expect(factsIn(found)).toEqual(atHand as DomainFacts);
  });

  test("expire with the shortest TTL of their look-ups", async () => {
    await using setting = await startFacts();
    await setting.facts.factsOf("short.com", PLAIN);
    setting.pass(89_000);
    expect(setting.facts.cachedFacts("short.com", PLAIN)).toBeDefined();
    setting.pass(2_000);
    expect(setting.facts.cachedFacts("short.com", PLAIN)).toBeUndefined();
  });

  test("are looked up once for concurrent callers", async () => {
    await using setting = await startFacts();
    const found = await Promise.all(
      Array.from({ length: 100 }, () => setting.facts.findDomain("one.com", DEEP)),
    );
    expect(new Set(found).size).toBe(1);
    expect(setting.dns.server.queryCount("one.com", "MX")).toBe(1);
  });

  test("of a failure expire within seconds", async () => {
    await using setting = await startFacts();
    expect((await setting.facts.factsOf("silent.com", PLAIN)).mail.state).toBe("timeout");
    const isFailure = (domain: string) => setting.facts.knownDomain(domain, PLAIN)?.isFailure;
    await setting.facts.findDomain("one.com", PLAIN);
    expect([isFailure("silent.com"), isFailure("one.com")]).toEqual([true, false]);
    expect(setting.facts.cachedFacts("silent.com", PLAIN)).toBeDefined();
    setting.pass(5_001);
    expect(setting.facts.cachedFacts("silent.com", PLAIN)).toBeUndefined();
  });
});

describe("a caller who stops waiting", () => {
  test(
    "at its deadline gets a time-out; the others get the facts, and only those are cached",
    async () => {
      await using setting = await startFacts();
      const patient = setting.facts.factsOf("late.com", PLAIN);
      const started = performance.now();
      const hasty = await setting.facts.factsOf("late.com", { ...PLAIN, deadlineMs: setting.nowMs() + 30 });
      expect(performance.now() - started).toBeLessThan(250);
      expect(hasty).toMatchObject({ domain: "late.com", mail: { state: "timeout" } });
      expect(setting.facts.cachedFacts("late.com", PLAIN)).toBeUndefined();
      expect((await patient).mail.state).toBe("mx");
      expect(setting.facts.cachedFacts("late.com", PLAIN)).toEqual(await patient);
      expect(setting.dns.server.queryCount("late.com", "MX")).toBe(1);
    },
    RETRIED,
  );

  test("by its signal gets a time-out at once", async () => {
    await using setting = await startFacts();
    const stop = new AbortController();
    const facts = setting.facts.factsOf("silent.com", { ...PLAIN, signal: stop.signal });
    stop.abort();
    expect((await facts).mail.state).toBe("timeout");
  });

  test("before its call starts no look-up", async () => {
    await using setting = await startFacts();
    const over = { ...DEEP, deadlineMs: setting.nowMs() - 1 };
    expect((await setting.facts.factsOf("one.com", over)).policy?.spf.state).toBe("temperror");
    expect(
      (await setting.facts.factsOf("one.com", { ...PLAIN, signal: AbortSignal.abort() })).mail.state,
    ).toBe("timeout");
    expect(setting.dns.server.queryCount()).toBe(0);
  });

  test(
    "keeps the exchangers when their addresses are late",
    async () => {
      await using setting = await startFacts();
      const options = { ...PLAIN, deadlineMs: setting.nowMs() + 150 };
      expect((await setting.facts.factsOf("slow-host.com", options)).mail).toMatchObject({
        state: "mx",
        hosts: ["slow.slow-host.com"],
        targets: "unknown",
      });
      expect(setting.facts.cachedFacts("slow-host.com", PLAIN)).toBeUndefined();
    },
    RETRIED,
  );

  test(
    "keeps the routing that is known when SPF is late",
    async () => {
      await using setting = await startFacts();
      const facts = await setting.facts.factsOf("slow-policy.com", {
        ...DEEP,
        deadlineMs: setting.nowMs() + 150,
      });
      expect(facts.mail.state).toBe("mx");
      expect(facts.policy?.spf.state).toBe("temperror");
    },
    RETRIED,
  );
});

test("a DNS that denies a large provider is itself at fault, and the facts are unknown", async () => {
  await using setting = await startFacts();
  for (const domain of ["icloud.com", "posteo.de"]) {
    expect((await setting.facts.factsOf(domain, PLAIN)).mail).toEqual({ state: "error" });
  }
  expect((await setting.facts.factsOf("gmail.example.com", PLAIN)).mail).toEqual({ state: "no_domain" });
});
